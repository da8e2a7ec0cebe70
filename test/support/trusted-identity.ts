import { getCACertificates, setDefaultCACertificates } from "node:tls";
import type { Identity } from "#test/servers/http.ts";
import { createPki } from "#test/servers/pki.ts";
import { identityOf } from "#test/support/http-engine.ts";

/** Issues a certificate for 127.0.0.1, localhost and a name, which this process trusts from now on. */
export async function issueTrusted(name = "127.0.0.1"): Promise<Identity> {
  const pki = await createPki({ name: `Receiver of ${process.pid}` });
  setDefaultCACertificates([...getCACertificates("default"), pki.root.pem]);
  return identityOf(await pki.issue({ ip: ["127.0.0.1"], dns: ["localhost", name] }), pki.intermediate);
}
