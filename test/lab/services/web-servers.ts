// Program of the lab's web in its namespace: an HTTP and an HTTPS server with every route of
// test/servers/http-routes.ts and of site.ts on the node's own addresses, one TLS variant on each of the others. It
// reads one line of JSON on its standard input (a WebOrder), prints "ready", and runs until that input ends.
import { createInterface } from "node:readline";
import type { TLSSocket } from "node:tls";
import { readAuthority } from "#test/lab/services/authority.ts";
import { answerSite } from "#test/lab/services/site.ts";
import { isStatusVariant, startStatusVariant } from "#test/lab/services/status-variants.ts";
import { startHttpServer } from "#test/servers/http.ts";
import type { Pki } from "#test/servers/pki.ts";
import { startQuicServer } from "#test/servers/quic.ts";
import { isTlsVariant, startTlsVariant, TLS_HOST } from "#test/servers/tls-variants.ts";

interface WebOrder {
  /** Folder of the authority. */
  readonly folder: string;
  readonly addresses: readonly string[];
  /** Names in the certificate of the node's own addresses. */
  readonly names: readonly string[];
  readonly variants: readonly {
    readonly name: string;
    readonly host: string;
    readonly addresses: readonly string[];
  }[];
}

const PAGE = "<!doctype html><html lang=en><title>Lab</title><p>Hello</p></html>\n";

async function serve(order: WebOrder): Promise<void> {
  const pki = await readAuthority(order.folder);
  const leaf = await pki.issue({ dns: order.names, ip: order.addresses });
  const identity = { cert: leaf.pem + pki.intermediate.pem, key: leaf.keyPem };
  await Promise.all([
    ...order.addresses.flatMap((host) => [
      startHttpServer({ host, port: 80, handler: answerSite }),
      startHttpServer({ host, port: 443, tls: identity, h2: true, handler: answerSite }),
    ]),
    ...order.variants.flatMap((variant) => variant.addresses.map((host) => startVariant(pki, order, variant, host))),
  ]);
}

function startVariant(
  pki: Pki,
  { folder }: WebOrder,
  { name, host: certified }: WebOrder["variants"][number],
  host: string,
): Promise<unknown> {
  if (name === "h3") return startHttp3(pki, certified, host);
  if (isStatusVariant(name)) return startStatusVariant(name, pki, folder, { certified, host, answerOnce });
  const kind = name.replaceAll("-", "_");
  // A name that is not a variant (filtered) still gets a server; the packet filter in front of it makes the difference.
  const variant = isTlsVariant(kind) ? kind : "good";
  return startTlsVariant(variant, namedFor(pki, certified), { host, port: 443, onConnection: answerOnce });
}

/** Starts HTTP/2 over TCP that advertises HTTP/3, and the advertised QUIC server. */
async function startHttp3(pki: Pki, certified: string, host: string): Promise<void> {
  const leaf = await pki.issue({ dns: [certified] });
  await Promise.all([
    startQuicServer({ host, port: 443 }),
    startHttpServer({
      host,
      port: 443,
      h2: true,
      tls: { cert: leaf.pem + pki.intermediate.pem, key: leaf.keyPem },
      handler: (_request, response) => {
        response.setHeader("alt-svc", 'h3=":443"; ma=3600');
        return false;
      },
    }),
  ]);
}

/** Returns the same authority with leaves for another name than the variants' own. */
function namedFor(pki: Pki, name: string): Pki {
  return {
    ...pki,
    issue: (options = {}) =>
      pki.issue({ ...options, dns: options.dns?.map((given) => (given === TLS_HOST ? name : given)) ?? [name] }),
  };
}

function answerOnce(socket: TLSSocket): void {
  socket.once("data", () => {
    socket.end(
      "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n" +
        `Content-Length: ${PAGE.length}\r\n\r\n${PAGE}`,
    );
  });
}

const input = createInterface({ input: process.stdin });
input.on("close", () => process.exit(0));
input.once("line", (line) => {
  void serve(JSON.parse(line) as WebOrder).then(() => process.stdout.write("ready\n"));
});
