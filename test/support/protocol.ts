import type { ResultOf } from "#shared/tools/define.ts";
import type { protocol as contract } from "#shared/tools/protocol/contract.ts";
import { protocol } from "#probe-agent/tools/protocol/protocol.ts";
import { startDnsServer, type DnsServer, type DnsServerOptions } from "#test/servers/dns.ts";
import { startHttpServer, type HttpServer, type HttpServerOptions, type Identity } from "#test/servers/http.ts";
import { createPki } from "#test/servers/pki.ts";
import { startQuicServer, type QuicServer } from "#test/servers/quic.ts";
import { identityOf } from "#test/support/http-engine.ts";
import { resultOf, type ToolSetting } from "#test/support/tool.ts";

/** Result of the protocol tool. */
export type ProtocolResult = ResultOf<typeof contract>;

/** The protocol tool, and servers that `release` stops. */
export interface ProtocolBench {
  /** Valid for 127.0.0.1, site.test and alt.test. */
  readonly identity: Identity;
  keep<S extends { close(): Promise<void> }>(server: S): S;
  /** Answers every request with a short page and these headers. */
  serve(options?: HttpServerOptions, headers?: Readonly<Record<string, string>>): Promise<HttpServer>;
  serveTls(h2: boolean | "only", headers?: Readonly<Record<string, string>>): Promise<HttpServer>;
  /** Starts a QUIC server at a given UDP port, so that it can be an origin's own port. */
  quicAt(port: number, behaviour?: "honest" | "silent"): Promise<QuicServer>;
  dnsOf(zones: NonNullable<DnsServerOptions["zones"]>, more?: DnsServerOptions): Promise<DnsServer>;
  run(url: string, setting?: ToolSetting): Promise<ProtocolResult>;
  release(): Promise<void>;
}

/** Creates a bench. Its root is trusted unless a setting says otherwise. */
export async function createProtocolBench(): Promise<ProtocolBench> {
  const pki = await createPki();
  const leaf = await pki.issue({ ip: ["127.0.0.1"], dns: ["site.test", "alt.test"] });
  const identity = identityOf(leaf, pki.intermediate);
  const open: { close(): Promise<void> }[] = [];
  const bench: ProtocolBench = {
    identity,
    keep(server) {
      open.push(server);
      return server;
    },
    async serve(options = {}, headers = {}) {
      const handler: HttpServerOptions["handler"] = (_request, response) => {
        response.writeHead(200, headers).end("page");
        return true;
      };
      return bench.keep(await startHttpServer({ handler, ...options }));
    },
    serveTls: (h2, headers) => bench.serve({ tls: identity, h2 }, headers),
    quicAt: async (port, behaviour = "honest") => bench.keep(await startQuicServer({ port, behaviour })),
    dnsOf: async (zones, more = {}) => bench.keep(await startDnsServer({ zones, ...more })),
    run: (url, setting = {}) => resultOf(protocol, { url }, { roots: [pki.root.pem], ...setting }),
    async release() {
      await Promise.all(open.splice(0).map((server) => server.close()));
    },
  };
  return bench;
}
