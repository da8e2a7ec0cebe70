import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { dkim } from "#probe-agent/tools/dkim/dkim.ts";
import { startDnsServer, type DnsServer, type DnsServerOptions } from "#test/servers/dns.ts";
import { resultOf, runTool } from "#test/support/tool.ts";
import { endsBy } from "#test/support/deadlines.ts";
import { closeAfterEach } from "#test/support/close-after-each.ts";

const keep = closeAfterEach();

async function serve(options: DnsServerOptions): Promise<DnsServer> {
  return keep(await startDnsServer(options));
}

async function lookAt(given: { domain: string; selector?: string }, options: DnsServerOptions) {
  const server = await serve(options);
  return resultOf(dkim, given, { dnsServers: [server.address] });
}

function rsa(bits: number): string {
  const { publicKey } = generateKeyPairSync("rsa", { modulusLength: bits });
  return publicKey.export({ format: "der", type: "spki" }).toString("base64");
}

const KEY_2048 = rsa(2048);
const KEY_1024 = rsa(1024);

/** Splits a text into the quoted strings of a TXT record, of up to 200 characters each. */
function strings(text: string): string {
  return (text.match(/.{1,200}/g) ?? [""]).map((part) => `"${part.replaceAll(";", "\\;")}"`).join(" ");
}

function zoneOf(records: Readonly<Record<string, string | readonly string[]>>) {
  return Object.fromEntries(
    Object.entries(records).map(([selector, texts]) => [
      `${selector}._domainkey.example.test`,
      { TXT: [texts].flat().map(strings) },
    ]),
  );
}

describe("a selector", () => {
  it("has all tags of its record, whose strings are joined", async () => {
    const text = `v=DKIM1; k=rsa; h=sha256; t=s; s=email; n=a=20note; p=${KEY_2048}`;
    const result = await lookAt({ domain: "example.test", selector: "june" }, { zones: zoneOf({ june: text }) });
    expect(result).toMatchObject({
      domain: "example.test",
      selector: "june",
      record: text,
      records_found: 1,
      valid: true,
      v: "DKIM1",
      k: "rsa",
      h: ["sha256"],
      p: KEY_2048,
      t: ["s"],
      s: ["email"],
      n: "a note",
      key: { type: "rsa", bits: 2048, encoding: "spki" },
      revoked: false,
      testing: false,
      strict_subdomain: true,
      weak: false,
      cname_target: null,
      discovered_selectors: [],
      wildcard: null,
      invalid_reason: null,
      findings: [],
      limitations: [],
    });
  });

  it("can contain dots and can be an alias", async () => {
    const zones = {
      "s1.mail._domainkey.example.test": { CNAME: ["key.provider.test."] },
      "key.provider.test": { TXT: [strings(`p=${KEY_1024}`)] },
    };
    const result = await lookAt({ domain: "example.test", selector: "s1.mail" }, { zones });
    expect(result).toMatchObject({ valid: true, weak: true, cname_target: "key.provider.test" });
    expect(result.findings).toMatchObject([{ id: "key-weak", severity: "warning", where: "s1.mail" }]);
    const dangling = { "s1._domainkey.example.test": { CNAME: ["gone.provider.test."] } };
    const gone = await lookAt({ domain: "example.test", selector: "s1" }, { zones: dangling });
    expect(gone).toMatchObject({ valid: false, record: null, cname_target: "gone.provider.test" });
    expect(gone.findings.map(({ id }) => id)).toEqual(["record-missing", "alias-dangling"]);
    expect(gone.invalid_reason).toBe("The name is an alias of gone.provider.test, which has no TXT record.");
  });

  it("is invalid without a record and unknown if the lookup fails", async () => {
    const absent = await lookAt({ domain: "example.test", selector: "x" }, { zones: {} });
    expect(absent).toMatchObject({ valid: false, record: null, records_found: 0, key: null, weak: null });
    expect(absent.findings).toMatchObject([{ id: "record-missing", severity: "critical", where: "x" }]);
    expect(absent.findings[0]?.how).toContain('at x._domainkey.example.test: "v=DKIM1; k=rsa; p=');
    expect(absent.invalid_reason).toBe(absent.findings[0]?.message);
    for (const status of ["SERVFAIL", "REFUSED"]) {
      const unknown = await lookAt({ domain: "example.test", selector: "x" }, { behaviours: { "*": { status } } });
      expect(unknown).toMatchObject({ valid: null, records_found: null, invalid_reason: null, findings: [] });
      expect(unknown.limitations.join(" ")).toContain(`TXT x._domainkey.example.test: ${status}`);
    }
  });

  it("given as a full DNS name causes a finding with the correct selector", async () => {
    const { findings } = await lookAt(
      { domain: "example.test", selector: "google._domainkey.example.test" },
      { zones: zoneOf({ google: `p=${KEY_2048}` }) },
    );
    expect(findings).toMatchObject([{ id: "record-missing" }, { id: "selector-holds-domainkey" }]);
    expect(findings[1]?.how).toBe('Enter only the selector: "google".');
  });

  it("is invalid with several keys or a broken one, and valid with a key and another text", async () => {
    const given = { domain: "example.test", selector: "a" };
    const of = (...a: readonly string[]) => lookAt(given, { zones: zoneOf({ a }) });
    const key = `v=DKIM1; p=${KEY_2048}`;
    const two = await of(key, "v=DKIM1; p=");
    expect(two).toMatchObject({ valid: false, records_found: 2 });
    expect(two.invalid_reason).toContain("2 key records");
    expect(two.findings[0]).toMatchObject({ id: "several-key-records", severity: "critical", where: "a" });
    const beside = await of("hello", key);
    expect(beside).toMatchObject({ valid: true, invalid_reason: null, records_found: 2 });
    expect(beside.findings).toMatchObject([{ id: "other-records-beside", severity: "info" }]);
    const other = await of("hello");
    expect(other).toMatchObject({ valid: false, invalid_reason: 'The TXT record is not a DKIM key: "hello".' });
    expect(other.findings).toMatchObject([{ id: "not-a-key-record" }]);
    const cut = await of(key.slice(0, 255));
    const [{ message: reason } = { message: "" }] = cut.findings;
    expect(cut).toMatchObject({ valid: false, invalid_reason: reason, selectors: [{ invalid_reason: reason }] });
    expect(cut.findings).toMatchObject([{ id: "key-cut-short", where: "a" }]);
  });

  it("with a control character is refused before the agent sees it", async () => {
    const asked = runTool(dkim, { domain: "example.test", selector: "a\0b" }, {});
    await expect(asked).rejects.toThrow("must not contain control characters");
  });

  it.each(["../etc", "a b", "a..b", ".a", "a.", "a".repeat(64), "-a", "a-", "a/b", "ä", "%61", "_domainkey/"])(
    "%j is none: a 400 by the contract",
    (selector) => {
      expect(dkim.contract.refine?.({ domain: "example.test", selector })).toMatchObject({ field: "selector" });
    },
  );

  it("that is none makes the agent look nothing up", async () => {
    const server = await serve({});
    const asked = { domain: "example.test", selector: "../etc" };
    const { outcome } = await runTool(dkim, asked, { dnsServers: [server.address] });
    expect(outcome).toMatchObject({ status: "invalid", field: "selector" });
    expect(server.queries).toEqual([]);
  });

  it.each(["a", "s1.mail", "20230601", "_x", "a_b-c", "A".repeat(63)])("%s is a selector", (selector) => {
    expect(dkim.contract.refine?.({ domain: "example.test", selector })).toBeNull();
  });
});

describe("without a selector", () => {
  it("tries those in wide use and describes the best", async () => {
    const zones = zoneOf({
      google: `v=DKIM1; k=rsa; p=${KEY_2048}`,
      k1: `v=DKIM1; p=${KEY_1024}`,
      s1: "v=DKIM1; p=",
    });
    const server = await serve({ zones });
    const result = await resultOf(dkim, { domain: "example.test", selector: "" }, { dnsServers: [server.address] });
    expect(result.discovered_selectors).toEqual(["google", "k1", "s1"]);
    expect(result).toMatchObject({ selector: "google", valid: true, wildcard: false, weak: false });
    expect(result.selectors).toMatchObject([
      { selector: "google", used_by: "Google Workspace", valid: true, key: { bits: 2048 } },
      { selector: "k1", valid: true, key: { bits: 1024 } },
      { selector: "s1", valid: false, revoked: true, key: null },
    ]);
    expect(result.limitations.join(" ")).toContain("cannot be listed");
    expect(server.queries.length).toBeGreaterThan(30);
    expect(server.queries.length).toBeLessThan(50);
  });

  it("reports an alias of a name without a key, whose service has not enabled DKIM", async () => {
    const alias = { CNAME: ["selector1-example._domainkey.tenant.test."] };
    const zones = { "tenant.test": { TXT: ['"x"'] }, "selector1._domainkey.example.test": alias };
    const result = await lookAt({ domain: "example.test" }, { zones });
    expect(result).toMatchObject({ selector: null, valid: null, selectors: [] });
    expect(result.findings).toMatchObject([{ id: "alias-dangling", severity: "warning", where: "selector1" }]);
    expect(result.findings[0]?.message).toContain("selector1-example._domainkey.tenant.test, which has no TXT record");
    const wild = await lookAt({ domain: "example.test" }, { zones: { ...zones, "*._domainkey.example.test": alias } });
    expect(wild.findings).toEqual([]);
  });

  it("leaves validity unknown if it finds no key", async () => {
    const result = await lookAt({ domain: "example.test" }, { zones: { "example.test": { A: ["192.0.2.1"] } } });
    expect(result).toMatchObject({
      selector: null,
      valid: null,
      discovered_selectors: [],
      selectors: [],
      findings: [],
    });
    expect(result.limitations.join(" ")).toContain("may sign under another");
  });

  it("does not count a wildcard record as many keys", async () => {
    const zones = {
      "*._domainkey.example.test": { TXT: [strings("v=DKIM1; p=")] },
      ...zoneOf({ default: `v=DKIM1; p=${KEY_2048}` }),
    };
    const result = await lookAt({ domain: "example.test" }, { zones });
    expect(result).toMatchObject({ wildcard: true, selector: "default", discovered_selectors: ["default"] });
    expect(result.findings).toMatchObject([{ id: "wildcard-record", severity: "info", where: null }]);
  });

  it("returns a result in time if some lookups fail or time out", async () => {
    const zones = zoneOf({ google: `v=DKIM1; p=${KEY_2048}` });
    const behaviours = {
      "s1._domainkey.example.test": { drop: true },
      "k1._domainkey.example.test": { status: "SERVFAIL" },
    } as const;
    const result = await endsBy(dkim.contract.deadlineMs({ domain: "example.test" }), () =>
      lookAt({ domain: "example.test" }, { zones, behaviours }),
    );
    expect(result.discovered_selectors).toEqual(["google"]);
    expect(result.limitations.join(" ")).toMatch(/k1\._domainkey.*SERVFAIL/);
    expect(result.limitations.join(" ")).toMatch(/s1\._domainkey.*TIMEOUT/);
  });
});

describe("hostile records", () => {
  it("of any number, content and length are cut and printed as ASCII", async () => {
    const zones = {
      "x._domainkey.example.test": { TXT: Array.from({ length: 60 }, (_, i) => `"v=DKIM1\\; p=${i}AAA\\000\\255"`) },
    };
    const many = await lookAt({ domain: "example.test", selector: "x" }, { zones });
    expect(many).toMatchObject({ records_found: 60, valid: false });
    expect(JSON.stringify(many)).not.toMatch(/\\u00(?:00|ff)|ÿ/);
    const long = Array.from({ length: 200 }, () => `"${"A".repeat(250)}"`).join(" ");
    const huge = await lookAt(
      { domain: "example.test", selector: "x" },
      { zones: { "x._domainkey.example.test": { TXT: [`"p=" ${long}`] } } },
    );
    expect(huge.valid).toBe(false);
    expect(JSON.stringify(huge).length).toBeLessThan(20_000);
  });
});
