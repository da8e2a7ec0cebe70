import type { ResultOf } from "#shared/tools/define.ts";
import type { ssl as contract } from "#shared/tools/ssl/contract.ts";
import { ssl } from "#probe-agent/tools/ssl/ssl.ts";
import { startDnsServer } from "#test/servers/dns.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { createPki, type Issued, type IssueOptions, type Pki } from "#test/servers/pki.ts";
import { TLS_HOST } from "#test/servers/tls-variants.ts";
import { startTlsServer } from "#test/servers/tls.ts";
import { resultOf, type ToolSetting } from "#test/support/tool.ts";

/** The ssl tool's result. */
export type SslResult = ResultOf<typeof contract>;

/** Answer of the status server at a path: octets, a status code, a redirect, or silence. */
export type Saying = Uint8Array | number | { readonly redirect: string } | "silence";

/** An authority with servers for the status of its certificates. */
export interface StatusLab {
  readonly pki: Pki;
  /** Sets the answer at a path. A function is called with the method and the body of each request. */
  say(path: string, saying: Saying | ((method: string, body: Uint8Array) => Saying)): string;
  /** Returns the requests since the last check began as `METHOD /path`. */
  asked(): readonly string[];
  /** Checks a server with the certificate. */
  check(certificate: Issued, options?: CheckOptions): Promise<SslResult>;
  /** Issues a certificate for the tool's host. */
  issue(options?: Omit<IssueOptions, "issuer">): Promise<Issued>;
  close(): Promise<void>;
}

/** Setup of the server for one check. */
export interface CheckOptions extends ToolSetting {
  readonly staple?: Uint8Array;
  /** Certificates after the leaf. Default: the intermediate. */
  readonly chain?: readonly Issued[];
  readonly host?: string;
}

/** Starts all servers. */
export async function startStatusLab(): Promise<StatusLab> {
  const pki = await createPki();
  const sayings = new Map<string, Saying | ((method: string, body: Uint8Array) => Saying)>();
  const http = await startSayings(sayings);
  const dns = await startDnsServer({
    zones: { [TLS_HOST]: { A: ["127.0.0.1"] }, "other.example": { A: ["127.0.0.1"] } },
  });
  let before = 0;
  return {
    pki,
    say(path, saying) {
      sayings.set(path, saying);
      return `${http.url}${path}`;
    },
    asked: () => http.requests.slice(before).map(({ method, path }) => `${method} ${path}`),
    issue: (options) => pki.issue({ dns: [TLS_HOST], ...options }),
    async check(certificate, { staple, chain = [pki.intermediate], host = TLS_HOST, ...setting } = {}) {
      const server = await startTlsServer({
        chain: [certificate, ...chain],
        ...(staple === undefined ? {} : { staple }),
      });
      before = http.requests.length;
      try {
        const usual = { dnsServers: [dns.address], roots: [pki.root.pem] };
        return await resultOf(ssl, { host, port: server.port }, { ...usual, ...setting });
      } finally {
        await server.close();
      }
    },
    close: async () => {
      await Promise.all([http.close(), dns.close()]);
    },
  };
}

function startSayings(
  sayings: ReadonlyMap<string, Saying | ((method: string, body: Uint8Array) => Saying)>,
): Promise<HttpServer> {
  return startHttpServer({
    handler: (_request, response, seen) => {
      const paths = [...sayings.keys()].filter((path) => seen.path === path || seen.path.startsWith(`${path}/`));
      const found = sayings.get(paths.toSorted((one, other) => other.length - one.length)[0] ?? "") ?? 404;
      const said = typeof found === "function" ? found(seen.method, Buffer.from(seen.body, "latin1")) : found;
      if (said === "silence") return true;
      if (typeof said === "number") response.writeHead(said).end("nothing here");
      else if (said instanceof Uint8Array) response.writeHead(200).end(said);
      else response.writeHead(302, { location: said.redirect }).end();
      return true;
    },
  });
}
