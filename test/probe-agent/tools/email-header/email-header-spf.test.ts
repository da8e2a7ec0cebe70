import { describe, expect, it } from "vitest";
import { emailHeader } from "#probe-agent/tools/email-header/email-header.ts";
import { startDnsServer, type DnsServerOptions } from "#test/servers/dns.ts";
import { resultOf } from "#test/support/tool.ts";
import { endsBy } from "#test/support/deadlines.ts";
import { closeAfterEach } from "#test/support/close-after-each.ts";

const keep = closeAfterEach();

const ENTRY =
  "Received: from mail.shop.example (mail.shop.example [8.8.8.8]) by mx.receiver.net with ESMTPS id a1; Tue, 02 Jan 2024 10:00:05 +0000";
const INSIDE =
  "Received: from mx.receiver.net (mx.receiver.net [9.9.9.9]) by store.receiver.net with LMTP id b1; Tue, 02 Jan 2024 10:00:06 +0000";
const OLDER =
  "Received: from pc.shop.example (pc.shop.example [1.1.1.1]) by mail.shop.example with ESMTPSA id c1; Tue, 02 Jan 2024 10:00:01 +0000";
const PATH = "Return-Path: <news@shop.example>";
const CLAIM = "Authentication-Results: mx.receiver.net; spf=pass smtp.mailfrom=shop.example";
const REST = [
  "Date: Tue, 02 Jan 2024 10:00:00 +0000",
  "From: <news@shop.example>",
  "To: <a@receiver.net>",
  "Message-ID: <1@shop.example>",
];

async function read(lines: readonly string[], options: DnsServerOptions, timeoutMs?: number) {
  const server = keep(await startDnsServer(options));
  const headers = [...lines, ...REST].join("\r\n");
  const setting = { dnsServers: [server.address], ...(timeoutMs === undefined ? {} : { timeoutMs }) };
  return { result: await resultOf(emailHeader, { headers }, setting), server };
}

function zoneOf(record: string) {
  return { "shop.example": { TXT: [(record.match(/.{1,200}/g) ?? []).map((part) => `"${part}"`).join(" ")] } };
}

describe("today's SPF result", () => {
  it("is for the host that delivered the message, not for inner or earlier hops", async () => {
    const zones = zoneOf("v=spf1 ip4:8.8.8.8 -all");
    const { result, server } = await read([INSIDE, ENTRY, OLDER, CLAIM, PATH], { zones });
    expect(result.spf_now).toEqual({
      result: "pass",
      ip: "8.8.8.8",
      hop: 2,
      mail_from: "news@shop.example",
      helo: "mail.shop.example",
      identity: "mailfrom",
      domain: "shop.example",
      record: "v=spf1 ip4:8.8.8.8 -all",
      mechanism: "ip4:8.8.8.8",
      explanation: null,
      reason: null,
      lookups: 0,
      void_lookups: 0,
      claimed: "pass",
      agrees: true,
    });
    expect(result.findings.filter(({ where }) => where === "spf_now")).toEqual([]);
    expect(result.source).toEqual(["headers", "dns"]);
    expect(server.queries.map(({ name, type }) => `${name.toLowerCase()} ${type}`)).toEqual(["shop.example TXT"]);
  });

  it("causes a finding with the record to publish if it differs from the headers", async () => {
    const zones = {
      ...zoneOf("v=spf1 ip4:192.0.2.1 exp=why.shop.example -all"),
      "why.shop.example": { TXT: ['"not %{i}"'] },
    };
    const { result } = await read([ENTRY, CLAIM, PATH], { zones });
    expect(result.spf_now).toMatchObject({
      result: "fail",
      explanation: "not 8.8.8.8",
      claimed: "pass",
      agrees: false,
    });
    expect(result.findings.filter(({ where }) => where === "spf_now")).toEqual([
      {
        id: "spf-changed",
        severity: "warning",
        message: "Today's SPF result for 8.8.8.8 and shop.example is fail; the result in the headers is pass.",
        how: 'If 8.8.8.8 still sends mail for shop.example: Publish this TXT record at shop.example: "v=spf1 ip4:192.0.2.1 exp=why.shop.example ip4:8.8.8.8 -all". Otherwise no change is needed.',
        reference: "https://www.rfc-editor.org/rfc/rfc7208#section-2.6",
        where: "spf_now",
      },
    ]);
  });

  it("causes an info finding if it is pass and the headers have fail", async () => {
    const claim = "Authentication-Results: mx.receiver.net; spf=fail smtp.mailfrom=shop.example";
    const { result } = await read([ENTRY, claim, PATH], { zones: zoneOf("v=spf1 ip4:8.8.8.8 -all") });
    expect(result.findings).toContainEqual(expect.objectContaining({ id: "spf-changed", severity: "info", how: null }));
  });

  it("causes a finding if it is fail and the headers have no result", async () => {
    const { result } = await read([ENTRY, PATH], { zones: zoneOf("v=spf1 -all") });
    expect(result.spf_now).toMatchObject({ result: "fail", claimed: null, agrees: null });
    expect(result.findings).toContainEqual(
      expect.objectContaining({ id: "spf-not-passed-today", severity: "warning" }),
    );
  });

  it("uses the address in the receiver's own SPF result", async () => {
    const received =
      "Received-SPF: pass (mx.receiver.net: designates) client-ip=1.1.1.1; envelope-from=news@shop.example; helo=pc.shop.example";
    const { result } = await read([ENTRY, OLDER, received], { zones: zoneOf("v=spf1 ip4:1.1.1.1 -all") });
    expect(result.spf_now).toMatchObject({ result: "pass", ip: "1.1.1.1", hop: 1, claimed: "pass" });
  });

  it("of a bounce is for the HELO name", async () => {
    const zones = { "mail.shop.example": { TXT: ['"v=spf1 a -all"'], A: ["8.8.8.8"] } };
    const { result } = await read([ENTRY, "Return-Path: <>"], { zones });
    expect(result.spf_now).toMatchObject({
      result: "pass",
      mail_from: null,
      identity: "helo",
      domain: "mail.shop.example",
      lookups: 1,
    });
  });

  it("is permerror after ten lookups, with the reason", async () => {
    const zones = {
      ...zoneOf(`v=spf1${Array.from({ length: 11 }, (_, n) => ` include:n${n}.shop.example`).join("")} -all`),
      ...Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`n${n}.shop.example`, { TXT: ['"v=spf1 -all"'] }])),
    };
    const { result, server } = await read([ENTRY, CLAIM, PATH], { zones });
    expect(result.spf_now).toMatchObject({ result: "permerror", lookups: 11, agrees: false });
    expect(result.spf_now?.reason).toContain("more than 10");
    expect(server.queries.length).toBeLessThan(13);
    expect(result.findings.find(({ id }) => id === "spf-changed")?.how).toContain(
      "Correct the SPF record of shop.example",
    );
  });

  it.each([
    ["no Return-Path", [ENTRY], "envelope sender"],
    ["no hop", [PATH], "no public address"],
    ["a private address", [ENTRY.replaceAll("8.8.8.8", "10.0.0.1"), PATH], "no public address"],
    [
      "a bounce without HELO",
      [ENTRY.replace("from mail.shop.example (mail.shop.example [8.8.8.8])", "from [8.8.8.8]"), "Return-Path: <>"],
      "no HELO",
    ],
  ])("is null with a limitation and without a DNS lookup for %s", async (_what, lines, why) => {
    const { result, server } = await read(lines, { zones: zoneOf("v=spf1 -all") });
    expect(result.spf_now).toBeNull();
    expect(result.limitations.join(" ")).toMatch(new RegExp(`The current SPF result is unknown: .*${why}`));
    expect(server.queries).toEqual([]);
  });

  it("causes no lookups of names of local networks", async () => {
    const local = await read([ENTRY, "Return-Path: <a@host.internal>"], {});
    expect(local.result.spf_now).toMatchObject({ result: "none", record: null });
    const zones = zoneOf("v=spf1 include:spf.corp.local a:localhost mx:x.home.arpa -all");
    const { server } = await read([ENTRY, PATH], { zones });
    expect([...local.server.queries, ...server.queries].map(({ name }) => name.toLowerCase())).toEqual([
      "shop.example",
    ]);
  });

  it("is temperror or null in time, without a finding, if the resolver fails or does not answer", async () => {
    const failing = await read([ENTRY, CLAIM, PATH], { behaviours: { "*": { status: "SERVFAIL" } } });
    expect(failing.result.spf_now).toMatchObject({ result: "temperror", record: null, agrees: null });
    expect(failing.result.limitations.join(" ")).toContain("SPF could not be evaluated completely");
    const silent = await endsBy(2_000, () =>
      read([ENTRY, CLAIM, PATH], { behaviours: { "*": { drop: true } } }, 2_000),
    );
    expect(silent.result.spf_now?.result ?? "temperror").toBe("temperror");
    for (const { result } of [failing, silent])
      expect(result.findings.map(({ id }) => id)).not.toContain("spf-changed");
  });
});

describe("findings on headers", () => {
  it("name the signature, ARC set or field, and keep anomalies as separate findings", async () => {
    const { result } = await read(
      [
        "DKIM-Signature: v=1; a=rsa-sha1; d=b.example; s=s; x=1704153600; l=5; h=from; bh=QUJD; b=QUJD",
        "ARC-Seal: i=2; a=rsa-sha256; cv=pass; d=b.example; s=s; b=QUJD",
        "List-Unsubscribe: <http://b.example/>",
        "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
      ],
      {},
    );
    const found = result.findings.map(({ id, severity, where }) => `${severity} ${id} ${where ?? ""}`);
    expect(found).toEqual(
      expect.arrayContaining([
        "warning dkim-expired DKIM-Signature",
        "warning dkim-partial-body DKIM-Signature",
        "warning dkim-signature-fault DKIM-Signature 1",
        "warning arc-broken ARC-Seal",
        "warning list-unsubscribe-fault List-Unsubscribe",
        "info missing-received Received",
      ]),
    );
    const fault = result.findings.find(({ id }) => id === "dkim-signature-fault");
    expect(fault?.message).toBe(
      "The signature of b.example (selector s): Verifiers ignore signatures with the algorithm rsa-sha1 (RFC 8301).",
    );
    expect(JSON.stringify(result)).not.toMatch(/"issues"|"anomalies"/);
  });
});
