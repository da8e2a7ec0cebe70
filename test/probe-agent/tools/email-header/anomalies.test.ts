import { describe, expect, it } from "vitest";
import { analyseHeaders } from "#probe-agent/tools/email-header/analyse.ts";

const NOW = new Date("2024-01-03T00:00:00Z");

function analyse(...lines: readonly string[]) {
  return analyseHeaders(lines.join("\r\n"), NOW);
}

function ids({ anomalies }: ReturnType<typeof analyseHeaders>): string[] {
  return anomalies.map(({ id }) => id);
}

describe("anomalies", () => {
  const good = ["Date: Tue, 2 Jan 2024 09:00:00 +0000", "From: a@b.example", "Message-ID: <1@b.example>"];
  const hop = (time: string): string => `Received: from a.example by b.example; ${time}`;

  it("are only the missing route in a plain message", () => {
    expect(ids(analyse(...good))).toEqual(["missing_received"]);
  });

  it.each([
    ["missing_from", ["Subject: x"]],
    ["missing_date", ["Subject: x"]],
    ["missing_message_id", ["Subject: x"]],
    ["duplicate_field", [...good, "From: c@d.example"]],
    ["future_date", ["Date: Tue, 2 Jan 2034 09:00:00 +0000"]],
    ["malformed_date", ["Date: yesterday"]],
    ["malformed_date", ["Date: Fri, 31 Feb 2023 09:00:00 +0000"]],
    ["wrong_weekday", ["Date: Mon, 2 Jan 2024 09:00:00 +0000"]],
    ["negative_delay", [hop("Tue, 2 Jan 2024 09:00:00 +0000"), hop("Tue, 2 Jan 2024 09:10:00 +0000")]],
    ["undated_hop", ["Received: from a.example by b.example"]],
    ["slow_hop", [hop("Tue, 2 Jan 2024 10:00:00 +0000"), hop("Tue, 2 Jan 2024 09:00:00 +0000")]],
    ["future_hop", [hop("Tue, 2 Jan 2034 10:00:00 +0000")]],
    ["old_date", [hop("Fri, 5 Jan 2024 10:00:00 +0000"), ...good]],
    ["return_path_mismatch", ["Return-Path: <x@y.example>", ...good]],
    ["display_name_is_address", ['From: "a@bank.example" <x@evil.example>']],
    ["domain_mixed_scripts", ["From: x@раypal.example"]],
    ["domain_mixed_scripts", ["From: x@xn--pypal-4ve.com"]],
    ["domain_latin_look_alikes", ["From: x@хсе.example"]],
    ["domain_invisible_characters", ["From: x@pay\u200Bpal.example"]],
    ["invisible_characters", ["Subject: a\u202Etxt.exe"]],
    ["empty_from", ["From: (nobody)"]],
    ["empty_from", ["From: Account team"]],
    ["empty_from", ["From: PayPal"]],
    ["empty_from", ["From: <>"]],
    ["empty_from", ["From: PayPal <paypal>"]],
    ["empty_from", ["From: =?utf-8?Q?service@bank.example?="]],
    ["malformed_address", ["From: Account team ,_<a@b.example>"]],
    ["display_name_is_address", ["From: service@bank.example <x@evil.example>"]],
    ["display_name_is_address", ["From: =?utf-8?B?c2VydmljZUBiYW5rLmV4YW1wbGU=?= <x@evil.example>"]],
    ["display_name_is_address", ["Sender: service@bank.example <x@evil.example>"]],
    ["reply_to_mismatch", ["From: a@b.example", "Reply-To: Team, the <x@evil.example>"]],
    ["return_path_mismatch", ["From: Team, the <a@b.example>", "Return-Path: Bounces, all <x@y.example>"]],
    ["several_from", ["From: a@b.example, c@d.example"]],
    ["control_characters", ["Subject: a\u0000b"]],
    ["eight_bit", ["Subject: Grüße"]],
    ["malformed_encoded_word", ["Subject: =?no-such-charset?Q?a?="]],
    ["encoded_word_in_quotes", ['From: "=?utf-8?Q?a?=" <a@b.example>']],
    ["unclosed_syntax", ['From: "a <a@b.example>']],
    ["long_line", [`Subject: ${"x".repeat(1000)}`]],
    ["malformed_line", [...good, "no field at all"]],
    ["obsolete_syntax", ["From : a@b.example"]],
    ["malformed_message_id", ["Message-ID: 12345"]],
    ["dkim_expired", ["DKIM-Signature: v=1; a=rsa-sha256; d=b.example; s=s; x=1600000000; h=from; bh=QUJD; b=QUJD"]],
    ["dkim_partial_body", ["DKIM-Signature: v=1; a=rsa-sha256; d=b.example; s=s; l=10; h=from; bh=QUJD; b=QUJD"]],
    ["many_hops", Array.from({ length: 31 }, () => hop("Tue, 2 Jan 2024 09:00:00 +0000"))],
  ])("find %s", (id, lines) => {
    expect(ids(analyse(...lines))).toContain(id);
  });

  it.each([
    ["a name of one script", ["From: x@bücher.example"]],
    ["Japanese", ["From: x@日本ごカタ.example"]],
    ["the real address as display name", ['From: "a@b.example" <a@b.example>']],
    ["clocks that differ by a second", [hop("Tue, 2 Jan 2024 09:00:00 +0000"), hop("Tue, 2 Jan 2024 09:00:01 +0000")]],
  ])("are none for %s", (_name, lines) => {
    const found = ids(analyse(...lines)).filter((id) => /^domain_|^display|^negative/.test(id));
    expect(found).toEqual([]);
  });

  it("name the address in the text of a From without an address", () => {
    const { anomalies, addresses, alignment } = analyse('From: "Bank <service@bank.example>"');
    expect(anomalies.find(({ id }) => id === "empty_from")?.message).toMatch(/no address, .* bank\.example/);
    expect([addresses, alignment.from_domain]).toEqual([[], null]);
  });

  it("are sorted, most severe first", () => {
    const { anomalies } = analyse("Subject: Grüße");
    expect(anomalies.map(({ severity }) => severity)).toEqual(["critical", "warning", "warning", "info", "info"]);
  });
});
