import { generateKeyPairSync } from "node:crypto";
import { emailCheckOn } from "#probe-agent/tools/email-check/email-check.ts";
import type { Behaviour } from "#test/servers/dns-reply.ts";
import { startDnsServer, type DnsServer } from "#test/servers/dns.ts";
import type { Zones } from "#test/servers/dns-zones.ts";
import { startHttpServer, type Handler, type HttpServer } from "#test/servers/http.ts";
import { createPki, type Pki } from "#test/servers/pki.ts";
import { identityOf } from "#test/support/http-engine.ts";
import { freePort } from "#test/support/free-port.ts";
import { resultOf, type ToolSetting } from "#test/support/tool.ts";

/** Returns the TXT data of a zone file: quoted strings of up to 200 characters with escapes. */
export function txt(text: string): string {
  const parts = text.match(/.{1,200}/gs) ?? [""];
  return parts.map((part) => `"${part.replaceAll(/[\\";]/g, String.raw`\$&`)}"`).join(" ");
}

/** MTA-STS policy of a domain without faults. */
export const STS_POLICY = "version: STSv1\r\nmode: enforce\r\nmx: mail.good.test\r\nmax_age: 2419200\r\n";

const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const KEY = publicKey.export({ format: "der", type: "spki" }).toString("base64");

/** Zones of a domain without faults, including MTA-STS. */
export const GOOD: Zones = {
  "good.test": { MX: ["10 mail.good.test."], TXT: [txt("v=spf1 mx -all"), txt("site=1")] },
  "mail.good.test": { A: ["8.8.8.8"], AAAA: ["2001:4860::25"] },
  "8.8.8.8.in-addr.arpa": { PTR: ["mail.good.test."] },
  "5.2.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.6.8.4.1.0.0.2.ip6.arpa": {
    PTR: ["mail.good.test."],
  },
  "_dmarc.good.test": { TXT: [txt("v=DMARC1; p=reject; rua=mailto:d@good.test,mailto:r@reports.test")] },
  "good.test._report._dmarc.reports.test": { TXT: [txt("v=DMARC1")] },
  "google._domainkey.good.test": { TXT: [txt(`v=DKIM1; p=${KEY}`)] },
  "_mta-sts.good.test": { TXT: [txt("v=STSv1; id=20260101")] },
  "mta-sts.good.test": { A: ["127.0.0.1"] },
  "_smtp._tls.good.test": { TXT: [txt("v=TLSRPTv1; rua=mailto:tls@good.test")] },
  "default._bimi.good.test": {
    TXT: [txt("v=BIMI1; l=https://good.test/logo.svg; a=https://good.test/vmc.pem")],
  },
};

/** The email-check tool over real ports with its own DNS server and, if a handler is given, a policy host. */
export interface MailSite {
  readonly pki: Pki;
  /** `policy` handles requests to the policy host; without it, the port is closed. `issue` makes its certificate. */
  check(
    domain: string,
    site: {
      readonly zones?: Zones;
      readonly behaviours?: Readonly<Record<string, Behaviour>>;
      readonly policy?: Handler;
      readonly issue?: Parameters<Pki["issue"]>[0];
    },
    setting?: ToolSetting,
  ): Promise<{
    readonly result: Awaited<ReturnType<typeof runCheck>>;
    readonly dns: DnsServer;
    readonly web: HttpServer | null;
  }>;
  close(): Promise<void>;
}

function runCheck(domain: string, port: number, setting: ToolSetting) {
  return resultOf(emailCheckOn({ https: port }), { domain }, setting);
}

/** Returns a handler that serves the policy at its fixed path. */
export function servePolicy(text: string, type = "text/plain"): Handler {
  return (_request, response, { path }) => {
    if (path !== "/.well-known/mta-sts.txt") return false;
    response.writeHead(200, { "content-type": type }).end(text);
    return true;
  };
}

/** Creates the mail site of a test file. */
export async function createMailSite(): Promise<MailSite> {
  const pki = await createPki();
  const open: { close(): Promise<void> }[] = [];
  return {
    pki,
    async check(domain, { zones = {}, behaviours = {}, policy, issue }, setting = {}) {
      const dns = await startDnsServer({ zones, behaviours });
      open.push(dns);
      const leaf = await pki.issue(issue ?? { dns: [`mta-sts.${domain}`] });
      const web =
        policy === undefined
          ? null
          : await startHttpServer({ tls: identityOf(leaf, pki.intermediate), h2: true, handler: policy });
      if (web !== null) open.push(web);
      const port = web?.port ?? (await freePort());
      const result = await runCheck(domain, port, { dnsServers: [dns.address], roots: [pki.root.pem], ...setting });
      return { result, dns, web };
    },
    async close() {
      await Promise.all(open.splice(0).map((server) => server.close()));
    },
  };
}

/** Returns "score/max status" of each check by its id. */
export function pointsOf({ checks }: Awaited<ReturnType<typeof runCheck>>): Record<string, string> {
  return Object.fromEntries(checks.map(({ id, score, max, status }) => [id, `${score}/${max} ${status}`]));
}
