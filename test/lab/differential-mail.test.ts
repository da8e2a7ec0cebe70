import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ResultOf } from "#shared/tools/define.ts";
import type { dkim as dkimContract } from "#shared/tools/dkim/contract.ts";
import type { emailCheck as emailContract } from "#shared/tools/email-check/contract.ts";
import type { mx as mxContract } from "#shared/tools/mx/contract.ts";
import type { smtpTest as smtpContract } from "#shared/tools/smtp-test/contract.ts";
import type { whois as whoisContract } from "#shared/tools/whois/contract.ts";
import { addressOf } from "#test/lab/addresses.ts";
import { dig, resolverOf } from "#test/lab/dig.ts";
import { startLab, type Lab } from "#test/lab/lab.ts";
import { whyNoLab } from "#test/lab/namespaces.ts";
import { sClient } from "#test/lab/s-client.ts";
import { DANE_EXCHANGER, SELECTORS } from "#test/lab/services/mail-records.ts";
import { openToolbox, type Toolbox } from "#test/lab/toolbox.ts";
import { LAB } from "#test/lab/topology.ts";

const why = whyNoLab("openssl", "whois");
if (why !== null) console.warn(why);

type Smtp = ResultOf<typeof smtpContract>;

/** A server with some kind of TLS, and the result of OpenSSL's verification (X509_V_ERR). */
const SECURED = [
  { target: "good.smtp.test", service: "smtp-good", name: "smtp-good.lab.test", port: 25, code: 0 },
  { target: "mail.test", service: "smtp-good", name: DANE_EXCHANGER, port: 25, code: 0 },
  { target: "smtp-good.lab.test", service: "smtp-good", name: "smtp-good.lab.test", port: 587, code: 0 },
  { target: "smtp-good.lab.test", service: "smtp-good", name: "smtp-good.lab.test", port: 465, code: 0 },
  { target: "expired.smtp.test", service: "smtp-expired", name: "smtp-expired.lab.test", port: 25, code: 10 },
] as const;

/** WHOIS servers and queries, in order. */
const TRAILS = [
  { host: "referred.io", servers: ["whois-registry", "whois-registrar"] },
  { host: "absent.io", servers: ["whois-registry"] },
  { host: "dead.org", servers: ["whois-registry"] },
  { host: "203.0.113.9", servers: ["whois-registry"] },
  { host: "AS64511", servers: ["whois-registry"] },
] as const;

describe.skipIf(why !== null)("mail and registry tools compared with command-line programs", () => {
  let lab: Lab;
  let toolbox: Toolbox;
  beforeAll(async () => {
    lab = await startLab();
    toolbox = await openToolbox(lab);
  });
  afterAll(() => lab?.close());

  /** Returns what dig shows for a name: TXT data as one text each, everything else unchanged. */
  async function dug(name: string, type: string): Promise<readonly string[]> {
    const found = await dig(lab.network, "probe-eu", resolverOf(lab.network, "eu"), { name, type });
    return (found?.data ?? []).map((data) => (type === "TXT" ? data.replaceAll(/"\s+"|^"|"$/g, "") : data));
  }

  it.each(SECURED)(
    "smtp-test and openssl s_client: $target, port $port",
    async ({ target, service, name, port, code }) => {
      const ip = addressOf(LAB, service);
      const [ours, theirs] = await Promise.all([
        toolbox.getResult<Smtp>("smtp-test", { target, port }),
        sClient(
          lab.network,
          "probe-eu",
          { ip, name, port, rootFile: lab.web.rootFile },
          port === 465 ? [] : ["-starttls", "smtp"],
        ),
      ]);
      const { tls } = ours.starttls;
      expect(theirs.verifyCode, theirs.text).toBe(code);
      expect({
        ip: ours.ip,
        trusted: tls?.trusted,
        protocol: tls?.protocol,
        cipher: tls?.cipher,
        sent: tls?.chain_length,
        leaf: tls?.certificate?.fingerprint_sha256,
        asks: tls?.client_certificate_requested,
      }).toEqual({
        ip,
        trusted: code === 0,
        protocol: theirs.protocol,
        cipher: theirs.cipher,
        sent: theirs.sent.length,
        leaf: theirs.sent[0],
        asks: theirs.asksForCertificate,
      });
    },
  );

  it.concurrent.each(["plain", "helo"])("smtp-test and openssl s_client: no STARTTLS at %s.smtp.test", async (name) => {
    const service = `smtp-${name}`;
    const server = { ip: addressOf(LAB, service), name: `${service}.lab.test`, port: 25, rootFile: lab.web.rootFile };
    const theirs = await sClient(lab.network, "probe-eu", server, ["-starttls", "smtp"]);
    const ours = await toolbox.getResult<Smtp>("smtp-test", { target: `${name}.smtp.test` });
    expect(theirs).toMatchObject({ protocol: null, sent: [] });
    expect(theirs.text).toMatch(name === "plain" ? /Didn't find STARTTLS/i : /STARTTLS|no peer certificate/i);
    expect(ours.starttls).toMatchObject({ success: null, tls: null });
  });

  it.concurrent.each(TRAILS)(
    "whois and whois(1): the replies of the servers for $host, verbatim",
    async ({ host, servers }) => {
      const ours = await toolbox.getResult<ResultOf<typeof whoisContract>>("whois", { host });
      const texts = await Promise.all(
        servers.map(async (server) => {
          const line = ["whois", "-h", addressOf(LAB, server), host];
          return (await lab.network.run("probe-eu", line)).stdout;
        }),
      );
      expect(ours.source).toBe("whois");
      const all = lines(ours.raw ?? "");
      for (const text of texts) {
        const theirs = lines(text);
        expect(theirs.length).toBeGreaterThan(0);
        expect(all.join("\n")).toContain(theirs.join("\n"));
      }
    },
  );

  it("mx and dig: exchangers, their order and addresses, policies", async () => {
    const ours = await toolbox.getResult<ResultOf<typeof mxContract>>("mx", { domain: "mail.test" });
    const records = ours.records.map(({ priority, host }) => `${priority} ${host}.`);
    expect(records).toEqual(await dug("mail.test", "MX"));
    for (const { host, addresses } of ours.records) {
      const theirs = [...(await dug(host, "A")), ...(await dug(host, "AAAA"))];
      expect(addresses.map(({ ip }) => ip).toSorted()).toEqual(theirs.toSorted());
    }
    expect([ours.mta_sts.record]).toEqual(await dug("_mta-sts.mail.test", "TXT"));
    expect([ours.tls_rpt.record]).toEqual(await dug("_smtp._tls.mail.test", "TXT"));
    const [tlsa] = await dug(`_25._tcp.${DANE_EXCHANGER}`, "TLSA");
    const [usage, selector, matching] = (tlsa ?? "").split(" ").map(Number);
    expect(ours.records[0]?.dane).toMatchObject({
      status: "secure",
      records: [{ usage, selector, matching_type: matching }],
    });
  });

  it.each(Object.entries(SELECTORS))("dkim and dig: the %s key, %s", async (kind, selector) => {
    const ours = await toolbox.getResult<ResultOf<typeof dkimContract>>("dkim", { domain: "mail.test", selector });
    expect([ours.record]).toEqual(await dug(`${selector}._domainkey.mail.test`, "TXT"));
    expect({ valid: ours.valid, revoked: ours.revoked, bits: ours.key?.bits ?? null }).toEqual({
      valid: kind !== "revoked",
      revoked: kind === "revoked",
      bits: kind === "good" ? 2_048 : kind === "weak" ? 1_024 : null,
    });
    expect(ours.weak).toBe(kind === "revoked" ? null : kind === "weak");
  });

  it("email-check and dig: every record that it uses, and the policy as curl receives it", async () => {
    const ours = await toolbox.getResult<ResultOf<typeof emailContract>>("email-check", { domain: "mail.test" });
    expect([ours.spf.record]).toEqual(await dug("mail.test", "TXT"));
    expect([ours.dmarc.record]).toEqual(await dug("_dmarc.mail.test", "TXT"));
    expect([ours.mta_sts.dns.record]).toEqual(await dug("_mta-sts.mail.test", "TXT"));
    expect([ours.tls_rpt.record]).toEqual(await dug("_smtp._tls.mail.test", "TXT"));
    const url = "https://mta-sts.mail.test/.well-known/mta-sts.txt";
    const { stdout } = await lab.network.run("probe-eu", ["curl", "-sS", "--cacert", lab.web.rootFile, url]);
    expect(lines(ours.mta_sts.policy?.text ?? "")).toEqual(lines(stdout));
    expect(ours).toMatchObject({ spoofable: false, dane: { hosts_secure: 1, hosts_total: 2 } });
  });
});

/** Returns the non-empty lines without their ends. */
function lines(text: string): string[] {
  return text.split(/\r?\n/).filter((line) => line.trim() !== "");
}
