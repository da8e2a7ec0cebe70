import { describe, expect, it } from "vitest";
import {
  embeddedList,
  readTimestampList,
  certificateEntry,
  isTimestampOf,
  precertificateEntry,
  reportTransparency,
  type TransparencyFacts,
} from "#probe-agent/tools/ssl/transparency.ts";
import { parseCtLogs } from "#probe-agent/data/ct-logs.ts";
import { createLog, embedded, issueLogged, logList, tbsOf, timestampList, timestampOf } from "#test/servers/ct.ts";
import { createPki, daysFromNow } from "#test/servers/pki.ts";
import { parsed } from "#test/servers/signing.ts";

const NOW = new Date();
/** Timestamps have a resolution of milliseconds, certificates of seconds. */
const AT = new Date(Math.floor(daysFromNow(-1).getTime() / 1000) * 1000 + 123);
const pki = await createPki();
const logs = [createLog(), createLog("rsa"), createLog()] as const;
const [first, second, stranger] = logs;
const known = parseCtLogs(
  logList("Operator", [
    ["First log", first],
    ["Second log", second],
  ]),
);
const leaf = await issueLogged(pki, logs, { dns: ["leaf.test"] }, AT);

function report(facts: Partial<TransparencyFacts> = {}) {
  return reportTransparency({
    leaf: parsed(leaf),
    issuer: parsed(pki.intermediate),
    fromTls: null,
    fromOcsp: null,
    logs: known,
    now: NOW,
    ...facts,
  });
}

/** Returns the validity of each timestamp, in order. */
function validity(facts: Partial<TransparencyFacts>): (boolean | null)[] {
  return report(facts).ct.scts.map((sct) => sct.signature_valid);
}

describe("a list of timestamps (RFC 6962 section 3.3)", () => {
  const entry = { kind: "certificate", der: leaf.der } as const;
  const one = timestampOf(first, entry, AT, Uint8Array.of(1, 2, 3));

  it("is read field by field", () => {
    const list = readTimestampList(timestampList([one, one]));
    expect(list?.timestamps).toHaveLength(2);
    const [timestamp] = list?.timestamps ?? [];
    expect(timestamp).toMatchObject({ logId: first.id, timestamp: BigInt(AT.getTime()), hash: 4, scheme: 3 });
    expect(Buffer.from(timestamp?.extensions ?? []).toString("hex")).toBe("0003010203");
  });

  it("skips entries that it cannot read: other versions (section 3.3), octets after the signature", () => {
    const version2 = Uint8Array.from(one).fill(1, 0, 1);
    const longer = Buffer.concat([one, Uint8Array.of(0)]);
    const list = readTimestampList(timestampList([version2, one, longer, one.subarray(0, 40), new Uint8Array()]));
    expect(list).toMatchObject({ timestamps: [{ logId: first.id }], unreadable: 4 });
  });

  it("is refused if its lengths are wrong", () => {
    const list = timestampList([one]);
    for (let length = 0; length < list.length; length += 1)
      expect(readTimestampList(list.subarray(0, length))).toBeNull();
    expect(readTimestampList(Buffer.concat([list, Uint8Array.of(0)]))).toBeNull();
    expect(readTimestampList(Buffer.alloc(100, 0xff))).toBeNull();
  });

  it("is read up to twenty timestamps", () => {
    const short = timestampOf(first, entry, AT);
    const list = readTimestampList(timestampList(Array.from({ length: 400 }, () => short)));
    expect(list).toMatchObject({ timestamps: { length: 20 }, unreadable: 380 });
  });
});

describe("timestamps inside a certificate (RFC 6962 section 3.2)", () => {
  it("are signatures of the certificate without them, with the issuer's key", () => {
    const rebuilt = precertificateEntry(parsed(leaf), parsed(pki.intermediate));
    const list = readTimestampList(embeddedList(parsed(leaf)) ?? new Uint8Array());
    expect(list?.timestamps.map((one, index) => isTimestampOf(one, rebuilt, logs[index]?.key ?? first.key))).toEqual([
      true,
      true,
      true,
    ]);
  });

  it("are named and verified if their log is in the list of logs", () => {
    const { ct, bad, limitations } = report();
    expect(ct).toMatchObject({ count: 3, logs: 3, operators: ["Operator"] });
    const common = { timestamp: AT.toISOString(), source: "certificate" };
    expect(ct.scts).toEqual([
      { ...common, log_id: first.id, ...named("First log"), signature_valid: true },
      { ...common, log_id: second.id, ...named("Second log"), signature_valid: true },
      { ...common, log_id: stranger.id, log_name: null, log_operator: null, log_state: null, signature_valid: null },
    ]);
    expect(bad).toBe(0);
    expect(limitations).toEqual([
      "1 signed certificate timestamp of logs outside the list of logs could not be verified.",
    ]);
  });

  it("fail for another issuer, and are unverified without one", () => {
    expect(validity({ issuer: parsed(pki.root) })).toEqual([false, false, null]);
    const without = report({ issuer: null });
    expect(without.ct.scts.map((sct) => sct.signature_valid)).toEqual([null, null, null]);
    expect(without.limitations.join(" ")).toMatch(/its issuer's certificate is unavailable/);
  });

  it("fail in a certificate that they were not made for", async () => {
    const list = embeddedList(parsed(leaf)) ?? new Uint8Array();
    const thief = await pki.issue({ dns: ["thief.test"], extra: [embedded(list)] });
    const { ct, bad } = report({ leaf: parsed(thief) });
    expect(ct.scts.map((sct) => sct.signature_valid)).toEqual([false, false, null]);
    expect(bad).toBe(2);
  });

  it("have no names and are unverified without a list of logs", () => {
    const { ct, limitations } = report({ logs: null });
    expect(ct).toMatchObject({ count: 3, logs: 3, operators: null });
    for (const sct of ct.scts) expect(sct).toMatchObject({ log_name: null, log_state: null, signature_valid: null });
    expect(limitations.join(" ")).toMatch(/no list of logs is configured/);
  });

  it("are missing if the extension cannot be read", async () => {
    for (const value of [Buffer.from("0500", "hex"), Buffer.from("0403ffff00", "hex")]) {
      const broken = await pki.issue({ extra: [{ oid: "1.3.6.1.4.1.11129.2.4.2", value }] });
      expect(report({ leaf: parsed(broken) }).ct.count).toBe(0);
    }
  });
});

describe("timestamps beside a certificate", () => {
  const entry = { kind: "certificate", der: leaf.der } as const;
  const sound = timestampList([timestampOf(first, entry, AT), timestampOf(second, entry, AT, Uint8Array.of(9))]);

  it("from TLS or OCSP are signatures of the certificate itself", () => {
    const { ct } = report({ fromTls: sound, fromOcsp: sound });
    expect(ct.scts.slice(3).map(({ source, signature_valid }) => [source, signature_valid])).toEqual([
      ["tls", true],
      ["tls", true],
      ["ocsp", true],
      ["ocsp", true],
    ]);
    expect(ct).toMatchObject({ count: 7, logs: 3 });
  });

  it("for the precertificate, by another log or changed are invalid", () => {
    const pre = { kind: "precertificate", tbs: tbsOf(leaf.der), issuer: pki.intermediate } as const;
    const wrongKey = timestampOf({ ...first, privateKey: stranger.privateKey }, entry, AT);
    const later = Buffer.from(timestampOf(first, entry, AT));
    later.writeBigUInt64BE(BigInt(AT.getTime() + 1), 33);
    const list = timestampList([timestampOf(first, pre, AT), wrongKey, later]);
    expect(
      report({ fromTls: list })
        .ct.scts.slice(3)
        .map((sct) => sct.signature_valid),
    ).toEqual([false, false, false]);
    expect(report({ fromTls: list }).bad).toBe(3);
  });

  it("with a hash other than SHA-256 or a key type other than the log's are invalid (section 2.1.4)", () => {
    const usual = Buffer.from(timestampOf(first, entry, AT));
    const hash = Buffer.from(usual).fill(5, 43, 44);
    const scheme = Buffer.from(usual).fill(1, 44, 45);
    const { ct } = report({ fromTls: timestampList([usual, hash, scheme]) });
    expect(ct.scts.slice(3).map((sct) => sct.signature_valid)).toEqual([true, false, false]);
  });

  it("in the future are invalid although their signature is valid (section 5.2)", () => {
    const list = timestampList([timestampOf(first, entry, daysFromNow(2))]);
    const { ct, bad } = report({ fromTls: list });
    expect(ct.scts.at(-1)?.signature_valid).toBe(true);
    expect(bad).toBe(1);
  });

  it("beyond the last representable time have no time", () => {
    const octets = Buffer.from(timestampOf(first, entry, AT)).fill(0xff, 33, 41);
    const { ct, bad } = report({ fromTls: timestampList([octets]) });
    expect(ct.scts.at(-1)).toMatchObject({ timestamp: null, signature_valid: false });
    expect(bad).toBe(1);
  });

  it("that are unknown are reported as a limitation", () => {
    const { ct, limitations } = report({ fromTls: "unknown" });
    expect(ct.count).toBe(3);
    expect(limitations.join(" ")).toMatch(/in a TLS extension could not be determined/);
  });

  it("have an entry that contains the certificate, octet by octet", () => {
    const { type, value } = certificateEntry(parsed(leaf));
    expect(type).toBe(0);
    expect(Buffer.from(value.subarray(3)).equals(leaf.der)).toBe(true);
  });
});

function named(name: string) {
  return { log_name: name, log_operator: "Operator", log_state: "usable" };
}
