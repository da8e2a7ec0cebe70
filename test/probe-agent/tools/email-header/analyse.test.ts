import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { analyseHeaders } from "#probe-agent/tools/email-header/analyse.ts";

const NOW = new Date("2024-01-03T00:00:00Z");

function fixture(name: string): string {
  return readFileSync(new URL(`../../../fixtures/email/${name}.txt`, import.meta.url), "utf8");
}

function analyse(...lines: readonly string[]) {
  return analyseHeaders(lines.join("\r\n"), NOW);
}

function ids({ anomalies }: ReturnType<typeof analyseHeaders>): string[] {
  return anomalies.map(({ id }) => id);
}

describe("a newsletter from Gmail", () => {
  const result = analyseHeaders(fixture("gmail"), NOW);

  it("has decoded fields; encoded words across a fold are joined", () => {
    expect(result).toMatchObject({
      from: "André of Example <news@example.com>",
      to: '"Reader, A." <reader@gmail.com>',
      subject: "Grüße aus Köln",
      date: "2024-01-02T09:00:00.000Z",
      message_id: "<20240102090000.7@news.example.com>",
      reply_to: "help@example.com",
      return_path: "bounce-7@mailer.example.net",
      content_type: { value: "multipart/alternative", parameters: [{ name: "boundary", value: "b1" }] },
      has_body: false,
    });
    expect(result.addresses[0]).toEqual({
      field: "from",
      name: "André of Example",
      address: "news@example.com",
      domain: "example.com",
      group: null,
    });
  });

  it("has three hops with delays, oldest first", () => {
    expect(result.hops.map(({ n, from, by, ip, delay_s: delay }) => [n, from, by, ip, delay])).toEqual([
      [1, "[10.2.3.4]", "out7.mailer.example.net", "10.2.3.4", null],
      [2, "out7.mailer.example.net", "mx.google.com", "208.69.40.157", 7],
      [3, null, "2002:a05:6a10:1234:b0:4f1:1111:2222", null, 2],
    ]);
    expect(result.hops[0]).toMatchObject({
      with: "ESMTPSA",
      authenticated: true,
      ip_type: "private",
      tls: { version: null },
    });
    expect(result.hops[1]).toMatchObject({
      rdns: "out7.mailer.example.net",
      with: "ESMTPS",
      for: "reader@gmail.com",
      timestamp: "2024-01-02T09:00:10.000Z",
      ip_type: "public",
      tls: { version: "TLSv1.3", cipher: "TLS_AES_128_GCM_SHA256", bits: 128 },
    });
    expect(result).toMatchObject({
      hop_count: 3,
      total_delay_s: 9,
      date_to_first_hop_s: 3,
      slowest_hop: 2,
      tls_pct: 100,
      originating_ip: "208.69.40.157",
    });
  });

  it("is authenticated by the receiver, which is a host of the route", () => {
    expect(result.auth).toEqual({
      authserv_id: "mx.google.com",
      confirmed: true,
      spf: {
        result: "pass",
        reason: "google.com: domain of bounce-7@mailer.example.net designates 208.69.40.157 as permitted sender",
        domain: "mailer.example.net",
        scope: "mailfrom",
        ip: "208.69.40.157",
        source: "authentication-results",
      },
      dkim: [
        { result: "pass", reason: null, domain: "news.example.com", selector: "k1", identity: "@news.example.com" },
      ],
      dmarc: {
        result: "pass",
        reason: "p=REJECT sp=QUARANTINE dis=NONE",
        domain: "example.com",
        policy: "reject",
        disposition: "none",
      },
      arc: null,
      others: [],
    });
    expect(result.alignment).toEqual({
      from_domain: "example.com",
      registrable_domain: "example.com",
      spf: { domain: "mailer.example.net", result: "pass", strict: false, relaxed: false },
      dkim: [{ domain: "news.example.com", result: "pass", strict: false, relaxed: true }],
      aligned: true,
    });
  });

  it("has a signature that protects against a second From, with its result", () => {
    expect(result.dkim_signatures).toHaveLength(1);
    expect(result.dkim_signatures[0]).toMatchObject({
      d: "news.example.com",
      s: "k1",
      a: "rsa-sha256",
      c: "relaxed/relaxed",
      t: "2024-01-02T09:00:00.000Z",
      x: "2024-01-09T09:00:00.000Z",
      expired: false,
      result: "pass",
      oversigned: ["from"],
      unsigned: ["reply-to", "message-id", "content-type"],
      issues: [],
    });
  });

  it("has one-click unsubscription with a signature", () => {
    expect(result.list_unsubscribe).toEqual({
      https: ["https://example.com/u?i=7"],
      http: [],
      mailto: ["mailto:u-7@example.com?subject=unsubscribe"],
      one_click: true,
      one_click_signed: true,
      issues: [],
    });
    expect(ids(result)).toEqual(["return_path_mismatch"]);
    expect(result.arc_chain).toMatchObject({ instances: 1, valid_structure: true, cv: "none", issues: [] });
  });
});

describe("a forged message from Exchange Online", () => {
  const result = analyseHeaders(fixture("exchange"), NOW);

  it("has results without an authserv-id, which are read", () => {
    expect(result.auth).toMatchObject({
      authserv_id: null,
      confirmed: null,
      spf: { result: "fail", domain: "example.com", ip: "208.69.40.157" },
      dkim: [{ result: "none" }],
      dmarc: { result: "fail", disposition: "quarantine", domain: "example.com" },
      others: [{ method: "compauth", result: "fail", reason: "000" }],
    });
    expect(result.received_spf).toEqual([
      {
        result: "fail",
        comment: "protection.outlook.com: domain of example.com does not designate 208.69.40.157 as permitted sender",
        client_ip: "208.69.40.157",
        envelope_from: null,
        helo: "evil.example.net",
        receiver: "protection.outlook.com",
        identity: null,
        mechanism: null,
        problem: null,
      },
    ]);
  });

  it("has hops with product, link and TLS", () => {
    expect(result.hops.map(({ with: protocol, via, tls }) => [protocol, via, tls?.version ?? null])).toEqual([
      ["Microsoft SMTP Server", "Frontend Transport", null],
      ["Microsoft SMTP Server", "Frontend Transport", "TLSv1.3"],
      ["Microsoft SMTP Server", null, "TLSv1.2"],
      ["HTTPS", null, null],
    ]);
    expect(result.originating_ip).toBe("208.69.40.157");
    expect(result.tls_pct).toBe(50);
  });

  it("causes the expected anomalies", () => {
    expect(ids(result)).toEqual([
      "display_name_is_address",
      "dmarc_fail",
      "reply_to_mismatch",
      "future_date",
      "spf_fail",
    ]);
    expect(result.alignment.aligned).toBe(false);
  });

  it("has the spam results of two filters with their scales", () => {
    expect(result.spam_headers.map(({ name, verdict, score, threshold }) => [name, verdict, score, threshold])).toEqual(
      [
        ["X-MS-Exchange-Organization-SCL", "spam", 9, 5],
        ["X-Forefront-Antispam-Report", "spam", 9, 5],
        ["X-Spam-Status", "spam", 12.4, 5],
      ],
    );
  });
});

describe("RFC 8617 appendix B, three ARC sets", () => {
  const result = analyseHeaders(fixture("rfc8617-b"), NOW);

  it("form a valid chain with the results of each hop", () => {
    expect(result.arc_chain).toMatchObject({ instances: 3, valid_structure: true, cv: "pass", issues: [] });
    expect(result.arc_chain?.sets.map(({ i, cv, sealer, complete }) => [i, cv, sealer, complete])).toEqual([
      [1, "none", "lists.example.org", true],
      [2, "pass", "gmail.example", true],
      [3, "pass", "clochette.example.org", true],
    ]);
    expect(result.arc_chain?.sets[0]).toMatchObject({
      selector: "dk-lists",
      algorithm: "rsa-sha256",
      sealed_at: "1970-01-01T03:25:45.000Z",
      authserv_id: "lists.example.org",
      signed_fields: ["message-id", "date", "from", "to", "subject"],
      results: [
        { method: "spf", result: "pass" },
        { method: "dkim", result: "pass" },
        { method: "dmarc", result: "pass" },
      ],
    });
  });

  it("come with the results of the last receiver", () => {
    expect(result.auth).toMatchObject({
      authserv_id: "clochette.example.org",
      confirmed: true,
      spf: { result: "fail", domain: "d1.example" },
      dmarc: { result: "fail" },
      arc: { result: "pass" },
    });
    expect(result.dkim_signatures[0]?.issues).toEqual([
      "Verifiers ignore signatures with the algorithm rsa-sha1 (RFC 8301).",
    ]);
    expect(result.has_body).toBe(true);
  });
});

describe("an ARC chain", () => {
  const set = (i: number, cv: string): string[] => [
    `ARC-Seal: i=${i}; a=rsa-sha256; cv=${cv}; d=a.example; s=s; b=QUJD`,
    `ARC-Message-Signature: i=${i}; a=rsa-sha256; d=a.example; s=s; h=from; bh=QUJD; b=QUJD`,
    `ARC-Authentication-Results: i=${i}; a.example; spf=pass`,
  ];

  it.each([
    ["a gap", [...set(3, "pass"), ...set(1, "none")], "Set 2 is missing."],
    [
      "a set without seal",
      [...set(2, "pass").slice(1), ...set(1, "none")],
      "Set 2 does not have its three fields once each.",
    ],
    ["a set twice", [...set(1, "none"), ...set(1, "none")], "Set 1 does not have its three fields once each."],
    ["a first seal that passes", set(1, "pass"), "The first seal must say cv=none, not pass."],
    ["a later seal with none", [...set(2, "none"), ...set(1, "none")], "The seal of set 2 must say cv=pass, not none."],
    ["a failed one", [...set(2, "fail"), ...set(1, "none")], "The sealer of set 2 found the chain broken (cv=fail)."],
    ["instance 51", set(51, "pass"), "A field of the chain has no instance number from 1 to 50 (i=)."],
  ])("with %s is broken", (_name, lines, issue) => {
    const { arc_chain: chain, anomalies } = analyse(...lines, "From: a@a.example");
    expect(chain?.valid_structure).toBe(false);
    expect(chain?.issues).toEqual([issue]);
    expect(anomalies.map(({ id }) => id)).toContain("arc_broken");
  });
});

describe("the trusted Authentication-Results field", () => {
  const own = "Authentication-Results: mx.example.net; spf=pass smtp.mailfrom=a.example";
  const forged = "Authentication-Results: mx.example.net; dmarc=pass header.from=bank.example";
  const border =
    "Received: from evil.example.com (evil.example.com [208.69.40.157]) by mx.example.net; Tue, 2 Jan 2024 09:00:00 +0000";

  it("is the topmost field, not a field that came with the message", () => {
    const result = analyse(own, border, forged, "From: a@bank.example");
    expect(result.auth.spf?.result).toBe("pass");
    expect(result.auth.dmarc).toBeNull();
    expect(result.authentication_results.map(({ trusted }) => trusted)).toEqual([true, false]);
    expect(ids(result)).toContain("results_not_counted");
  });

  it("includes fields of other filters of the same host", () => {
    const result = analyse(own, forged, border, "From: a@bank.example");
    expect(result.auth).toMatchObject({ spf: { result: "pass" }, dmarc: { result: "pass" }, confirmed: true });
  });

  it("is unconfirmed if its host did not receive the message in an adjacent hop", () => {
    const result = analyse("Authentication-Results: mx.other.example; spf=pass", border);
    expect(result.auth.confirmed).toBe(false);
    expect(ids(result)).toContain("authserv_id_foreign");
  });

  it("is replaced by Received-SPF if there is no other result", () => {
    const result = analyse(
      'Received-SPF: pass (x) client-ip=192.0.2.1; envelope-from="a@b.example"; helo=h.example;',
      "From: a@b.example",
    );
    expect(result.auth.spf).toEqual({
      result: "pass",
      reason: "x",
      domain: "b.example",
      scope: "mailfrom",
      ip: "192.0.2.1",
      source: "received-spf",
    });
    expect(result.alignment).toMatchObject({ aligned: true, spf: { strict: true } });
  });

  it("is absent if there are no results", () => {
    expect(analyse("From: a@b.example").alignment.aligned).toBeNull();
  });
});

describe("delays", () => {
  it("skip hops without a date and can be negative", () => {
    const result = analyse(
      "Received: from c by d; Tue, 2 Jan 2024 08:59:00 +0000",
      "Received: from b by c",
      "Received: from a by b; Tue, 2 Jan 2024 10:00:00 +0100",
      "Received: (qmail 12345 invoked by uid 89)",
    );
    expect(result.hops.map(({ delay_s: delay }) => delay)).toEqual([null, null, null, -60]);
    expect(result).toMatchObject({ total_delay_s: -60, slowest_hop: null });
  });
});

describe("text without header fields", () => {
  it.each([
    ["nothing", ""],
    ["blanks", "  \r\n\r\n"],
    ["a body", "Hello,\nhow are you?\n"],
    ["octets", "\u0000\u0001\uFFFF\uD800"],
  ])("gives an empty result with a limitation: %s", (_name, raw) => {
    const result = analyseHeaders(raw, NOW);
    expect(result).toMatchObject({ header_count: 0, hops: [], from: null, auth: { spf: null, confirmed: null } });
    expect(result.limitations).toContain("No header field was found.");
  });

  it("can be octets in UTF-8 or in an undeclared charset", () => {
    expect(analyseHeaders(Buffer.from("Subject: Grüße"), NOW).subject).toBe("Grüße");
    expect(analyseHeaders(Buffer.from("Subject: Grüße", "latin1"), NOW).subject).toBe("Grüße");
  });
});
