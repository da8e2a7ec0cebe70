import { describe, expect, it } from "vitest";
import { factOf, presentExample } from "#test/shared/tools/examples.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { emailHeader } from "#shared/tools/email-header/contract.ts";

type EmailHeader = ResultOf<typeof emailHeader>;

/** Presents the example without today's SPF result and without findings. */
function presentMessage(change: (data: EmailHeader) => object) {
  return presentExample(emailHeader, (data) => ({ findings: [], spf_now: null, ...change(data) }));
}

describe("the presentation of email-header", () => {
  it("says what proves the sender, how long the message took, and that SPF fails today", () => {
    const shown = presentExample(emailHeader);
    expect(shown.headline).toBe(
      "The sender news@shop.test is proven by SPF and DKIM, delivered in 5 s over 2 hops; SPF fails today",
    );
    expect(factOf(shown, "Sent")).toBe("2026-03-04 10:00:00 UTC (268 days ago)");
    expect(presentMessage(() => ({})).verdict).toBe("good");
  });

  it("shows the route as a table and the delays as bars", () => {
    const shown = presentExample(emailHeader);
    expect(shown.series[0]?.bars).toEqual([
      { label: "1 mail.shop.test", start: 0, length: 2 },
      { label: "2 mx.example.net", start: 2, length: 5 },
    ]);
    expect(shown.tables[0]?.rows[1]?.cells).toEqual([
      "2",
      "mail.shop.test",
      "8.8.8.8, US",
      "mx.example.net",
      "TLS 1.3",
      "5 s",
    ]);
  });

  it("is not good where DMARC failed or the results may be forged", () => {
    const forged = presentMessage(({ auth, alignment }) => ({
      auth: { ...auth, dmarc: { ...auth.dmarc, result: "fail" } },
      alignment: { ...alignment, aligned: false },
    }));
    expect(forged).toMatchObject({
      verdict: "warning",
      headline: "The sender news@shop.test is not proven: DMARC failed, delivered in 5 s over 2 hops",
    });
    const doubtful = presentMessage(({ auth }) => ({ auth: { ...auth, confirmed: false } }));
    expect(doubtful.verdict).toBe("warning");
    expect(factOf(doubtful, "Sender proven")).toBe("no: the results may be forged");
  });

  it("judges nothing without results, and says that clocks differ", () => {
    const shown = presentMessage(({ auth, alignment, hops }) => ({
      auth: { ...auth, authserv_id: null, confirmed: null, spf: null, dkim: [], dmarc: null },
      alignment: { ...alignment, aligned: null },
      total_delay_s: -3,
      hops: hops.map((hop) => ({ ...hop, delay_s: hop.delay_s === null ? null : -3 })),
    }));
    expect(shown).toMatchObject({
      verdict: "neutral",
      headline: "The sender news@shop.test was not checked: the headers have no results, delivered over 2 hops",
    });
    expect(factOf(shown, "Delivery time")).toBe("-3 s (clocks differ)");
    expect(shown.tables.map(({ title }) => title)).toEqual(["Route"]);
  });

  it("keeps hosts of a hostile header short beside the bars", () => {
    const by = `${"mx.".repeat(80)}example`;
    const shown = presentMessage(({ hops }) => ({ hops: hops.map((hop) => ({ ...hop, by })) }));
    expect(shown.series[0]?.bars.map(({ label }) => label.length)).toEqual([32, 32]);
  });

  it("presents headers without sender, date and hops", () => {
    const nothing = {
      from: null,
      addresses: [],
      hops: [],
      hop_count: 0,
      total_delay_s: null,
      date_to_first_hop_s: null,
    };
    const shown = presentMessage(({ auth, alignment }) => ({
      ...nothing,
      auth: { ...auth, spf: null, dkim: [], dmarc: null },
      alignment: { ...alignment, aligned: null },
    }));
    expect(shown.headline).toBe("The sender (none) was not checked: the headers have no results");
    expect(shown.series).toEqual([]);
  });
});
