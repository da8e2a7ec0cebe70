// Program of the lab's services in the node `svc`: mail servers, WHOIS, RDAP with its lists of registries, an OCSP
// responder with a CRL, a name server that answers by client network. It reads one line of JSON on its standard input
// (a ServiceOrder), prints "ready", and runs until that input ends.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { answerOcsp, readAuthority, readIssued } from "#test/lab/services/authority.ts";
import { startGeoServer, type GeoNetwork } from "#test/lab/services/geo-server.ts";
import { readRegistrations } from "#test/lab/services/made-registrations.ts";
import { startMailServers, type MailPlace } from "#test/lab/services/mail-servers.ts";
import { RDAP_DOMAINS, RDAP_NUMBERS, rdapAnswer, WHOIS_TEXTS } from "#test/lab/services/registrations.ts";
import { startHttpServer, type Handler } from "#test/servers/http.ts";
import { startWireServer } from "#test/servers/wire.ts";

/** The services and addresses of the node. */
export interface ServiceOrder {
  /** Folder of the authority. */
  readonly folder: string;
  readonly services: readonly MailPlace[];
  readonly networks: readonly GeoNetwork[];
}

const RDAP_BASE = "http://rdap.lab.test/registry/";
const DEAD_BASE = "http://rdap-dead.lab.test/registry/";
const WHOIS_PORT = 43;

async function serve({ folder, services, networks }: ServiceOrder): Promise<void> {
  const [authority, mail] = await Promise.all([readAuthority(folder), readIssued(folder, "mail")]);
  const at = (name: string): readonly string[] => services.find((service) => service.name === name)?.addresses ?? [];
  await Promise.all([
    startMailServers(authority, mail, services),
    ...Object.entries(WHOIS_TEXTS).flatMap(([name, texts]) =>
      at(name).map((host) =>
        startWireServer(
          (socket, received) => {
            const answer = texts[received.trim().toLowerCase()] ?? "No match for your query.\r\n";
            socket.end(Buffer.from(answer, "latin1"));
          },
          { host, port: WHOIS_PORT },
        ),
      ),
    ),
    ...at("rdap").map((host) => startHttpServer({ host, port: 80, handler: registryOf(folder) })),
    ...at("pki").map((host) => startHttpServer({ host, port: 80, handler: statusOf(folder) })),
    ...at("geo-ns").map((host) => startGeoServer(host, networks)),
  ]);
}

/** The lists of RFC 9224 are at /bootstrap, the one registry that answers is at /registry. */
function registryOf(folder: string): Handler {
  return (_request, response, { path }) => {
    const [, room, ...rest] = path.split("/");
    if (room === "bootstrap") {
      const services = bootstrapOf(rest[0] ?? "");
      if (services === null) return false;
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ version: "1.0", publication: "2026-01-01T00:00:00Z", services }));
      return true;
    }
    if (room !== "registry") return false;
    const answer = rdapAnswer(rest.join("/"), readRegistrations(folder));
    response.writeHead(answer === null ? 404 : 200, { "content-type": "application/rdap+json" });
    response.end(JSON.stringify(answer ?? { errorCode: 404, title: "Not Found" }));
    return true;
  };
}

function bootstrapOf(file: string): unknown {
  const lists = file === "dns.json" ? RDAP_DOMAINS : RDAP_NUMBERS[file as keyof typeof RDAP_NUMBERS];
  if (lists === undefined) return null;
  return [
    [lists.rdap, [RDAP_BASE]],
    [lists["rdap-dead"], [DEAD_BASE]],
  ];
}

/**
 * Serves OCSP (RFC 6960 appendix A: by POST, or by GET with the request in the path), the CRL, and the issuer's
 * certificate.
 */
function statusOf(folder: string): Handler {
  const files: Readonly<Record<string, string>> = {
    "/lab.crl": "pki.crl",
    "/intermediate.cer": "pki-intermediate.der",
  };
  return (_request, response, { method, path, body }) => {
    const file = files[path];
    if (file !== undefined) {
      response.writeHead(200, {
        "content-type": file.endsWith("crl") ? "application/pkix-crl" : "application/pkix-cert",
      });
      response.end(readFileSync(join(folder, file)));
      return true;
    }
    if (!path.startsWith("/ocsp")) return false;
    const asked =
      method === "POST"
        ? Buffer.from(body, "latin1")
        : Buffer.from(decodeURIComponent(path.slice("/ocsp/".length)), "base64");
    response.writeHead(200, { "content-type": "application/ocsp-response" }).end(answerOcsp(folder, asked));
    return true;
  };
}

const input = createInterface({ input: process.stdin });
input.on("close", () => process.exit(0));
input.once("line", (line) => {
  void serve(JSON.parse(line) as ServiceOrder).then(() => process.stdout.write("ready\n"));
});
