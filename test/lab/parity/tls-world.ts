import type { TLSSocket } from "node:tls";
import { serveWeb } from "#test/lab/parity/web.ts";
import { writeFiles, type At } from "#test/lab/parity/places.ts";
import { CLIENT_AUTH } from "#test/servers/pki-extensions.ts";
import { createPki, daysFromNow, type Issued, type Pki } from "#test/servers/pki.ts";
import { startTlsVariant } from "#test/servers/tls-variants.ts";
import { startTlsServer, type TlsServerOptions } from "#test/servers/tls.ts";

const HERE = { dns: ["localhost", "site.example"], ip: ["127.0.0.1"] };
/** Servers that never complete a handshake. */
const BROKEN = [
  "garbage",
  "hanging",
  "closing",
  "reset",
  "alert_handshake_failure",
  "half_close",
  "half_hanging",
] as const;

/** Starts a server for each fault of TLS; they answer requests as test/lab/parity/web.ts does. Writes the files of modules. */
export async function startTlsWorld(folder: string, pki: Pki, at: At): Promise<Record<string, string>> {
  const stranger = await createPki({ name: "Stranger" });
  const client = await pki.issue({ subject: "client", eku: [CLIENT_AUTH] });
  const foreign = await stranger.issue({ subject: "foreigner", eku: [CLIENT_AUTH] });
  const extra = await stranger.issue({
    dns: ["extra.example"],
    notBefore: daysFromNow(-90),
    notAfter: daysFromNow(-9),
  });
  const soon = await pki.issue({ dns: ["extra.example"], notAfter: daysFromNow(3) });
  const files = writeFiles(folder, {
    "root.pem": pki.root.pem,
    "bothroots.pem": stranger.root.pem + pki.root.pem,
    "strangerroot.pem": stranger.root.pem,
    "clientcert.pem": client.pem + pki.intermediate.pem,
    "clientkey.pem": client.keyPem,
    "foreigncert.pem": foreign.pem + stranger.intermediate.pem,
    "foreignkey.pem": foreign.keyPem,
    "goneroot.pem": pki.root.pem,
    "gonecert.pem": client.pem + pki.intermediate.pem,
    "gonekey.pem": client.keyPem,
    "nopem.pem": "this is no certificate\n",
  });
  const good = [await pki.issue(HERE), pki.intermediate];
  const leafOf = async (options: Parameters<Pki["issue"]>[0]): Promise<Issued[]> => [
    await pki.issue({ ...HERE, ...options }),
    pki.intermediate,
  ];
  const onConnection = (socket: TLSSocket): void => serveWeb(socket);
  const start = async (chain: readonly Issued[], more: Partial<TlsServerOptions> = {}): Promise<string> =>
    at(await startTlsServer({ chain, onConnection, ...more }));
  const asking = { requestCert: true, ca: pki.root.pem };
  const places: Record<string, string> = {
    ...files,
    tls: await start(good),
    expired: await start(await leafOf({ notBefore: daysFromNow(-90), notAfter: daysFromNow(-1) })),
    future: await start(await leafOf({ notBefore: daysFromNow(2) })),
    selfsigned: await start([await pki.issue({ ...HERE, issuer: null })]),
    wrongname: await start([await pki.issue({ dns: ["other.example"] }), pki.intermediate]),
    wildcard: await start([await pki.issue({ dns: ["*.site.example"] }), pki.intermediate]),
    commonname: await start([await pki.issue({ subject: "CN=localhost" }), pki.intermediate]),
    incomplete: await start(good.slice(0, 1)),
    stranger: await start([await stranger.issue(HERE), stranger.intermediate]),
    strangerfull: await start([await stranger.issue(HERE), stranger.intermediate, stranger.root]),
    withroot: await start([...good, pki.root]),
    extraexpired: await start([...good, extra]),
    extrasoon: await start([...good, soon]),
    disordered: await start([good[0] as Issued, pki.root, pki.intermediate]),
    clientauth: await start(await leafOf({ eku: [CLIENT_AUTH] })),
    rsa: await start(await leafOf({ key: "rsa2048" })),
    rsa1024: await start(await leafOf({ key: "rsa1024" })),
    sha1: await start(await leafOf({ hash: "SHA-1" })),
    ed25519: await start(await leafOf({ key: "ed25519" })),
    longlived: await start(await leafOf({ notAfter: daysFromNow(4000) })),
    mutual: await start(good, { ...asking, rejectUnauthorized: true }),
    mutual12: await start(good, { ...asking, rejectUnauthorized: true, maxVersion: "TLSv1.2" }),
    optional: await start(good, { ...asking, rejectUnauthorized: false }),
    tls10: await start(good, { minVersion: "TLSv1", maxVersion: "TLSv1" }),
    tls11: await start(good, { minVersion: "TLSv1.1", maxVersion: "TLSv1.1" }),
    tls12: await start(good, { maxVersion: "TLSv1.2" }),
    tls13: await start(good, { minVersion: "TLSv1.3" }),
    cbc: await start(good, { maxVersion: "TLSv1.2", ciphers: "ECDHE-ECDSA-AES128-SHA" }),
    cbc256: await start(good, { maxVersion: "TLSv1.2", ciphers: "ECDHE-ECDSA-AES128-SHA256" }),
    imap: await start(good, { ALPNProtocols: ["imap"] }),
  };
  for (const name of BROKEN) places[`tls_${name}`] = at(await startTlsVariant(name, pki));
  return places;
}
