import { describe, expect, it } from "vitest";
import { daysLeft } from "#probe-agent/analysis/tls/certificate/describe.ts";
import { isCurrent, isExpired, isNotYetValid, remainingMs } from "#probe-agent/analysis/tls/certificate/validity.ts";
import { verifyServerChain } from "#probe-agent/analysis/tls/certificate/server.ts";
import { expiryStage } from "#probe-agent/analysis/tls/ssl/findings.ts";
import { createPki } from "#test/servers/pki.ts";
import { parsed } from "#test/servers/signing.ts";

const HOST = "dated.test";
const pki = await createPki();
const leaf = await pki.issue({
  dns: [HOST],
  notBefore: new Date("2026-03-01T00:00:00Z"),
  notAfter: new Date("2026-03-31T23:59:59Z"),
});
const certificate = parsed(leaf);

function at(now: string) {
  const [date, chain] = [
    new Date(now),
    { leaf: leaf.der, intermediates: [pki.intermediate.der], roots: [pki.root.der] },
  ];
  return {
    expired: isExpired(certificate, date),
    current: isCurrent(certificate, date),
    remainingMs: remainingMs(certificate, date),
    daysLeft: daysLeft(certificate, date),
    stage: expiryStage(daysLeft(certificate, date), 31),
    errors: verifyServerChain({ ...chain, host: HOST, now: date }).errors,
  };
}

describe("the validity of a certificate", () => {
  it.each(["2026-03-31T23:59:59Z", "2026-03-31T23:59:59.001Z", "2026-03-31T23:59:59.999Z"])(
    "includes %s, because it includes the whole second of notAfter",
    (now) => {
      const last = { expired: false, current: true, remainingMs: 0, daysLeft: 0, stage: "urgent", errors: [] };
      expect(at(now)).toEqual(last);
    },
  );

  it("ends with the next second, for trust, days left and the warning", () => {
    const over = {
      expired: true,
      current: false,
      remainingMs: -1000,
      daysLeft: -1,
      stage: "expired",
      errors: ["expired"],
    };
    expect(at("2026-04-01T00:00:00Z")).toEqual(over);
  });

  it("has one day left one day before its end", () => {
    expect(at("2026-03-30T23:59:59Z")).toMatchObject({ daysLeft: 1, errors: [] });
    expect(at("2026-03-30T23:59:59.500Z")).toMatchObject({ daysLeft: 0, errors: [] });
  });

  it("starts at the exact millisecond of notBefore", () => {
    expect(isNotYetValid(certificate, new Date("2026-02-28T23:59:59.999Z"))).toBe(true);
    expect(isNotYetValid(certificate, new Date("2026-03-01T00:00:00Z"))).toBe(false);
  });
});
