import { expect, it } from "vitest";
import { ok } from "#shared/contracts/outcome.ts";
import { MTA_STS_ADVICE } from "#probe-agent/analysis/mail/policy-advice.ts";
import { adviseOn } from "#probe-agent/analysis/text/findings.ts";
import type { HttpPort } from "#probe-agent/port/http.ts";
import type { Found, LookUp } from "#probe-agent/sources/dns-look-up.ts";
import type { AnalysesPort } from "#probe-agent/toolkit/analyses.ts";
import { inspectMtaSts } from "#probe-agent/tools/email-check/policies.ts";
import { netOf } from "#test/support/net.ts";

const POLICY = "version: STSv1\nmode: enforce\nmx: mail.good.test\nmax_age: 604800\n";

/** Answers every lookup with this TXT record. */
function lookUpOf(text: string): LookUp {
  const records = [{ name: "", type: "TXT", class: "IN", ttl: 60, data: text, typed: { strings: [text] } }];
  const found = { state: "records", status: "NOERROR", records, aliases: [], answer: null } as unknown as Found;
  return Object.assign(() => Promise.resolve(found), { unanswered: [] });
}

it("reports a policy file whose analysis takes too long", async () => {
  const final = { code: 200, headers: [["content-type", "text/plain"]], tls: { authorized: true, error: null } };
  const body = { bytes: new TextEncoder().encode(POLICY), truncated: false, error: null };
  const http = { fetch: () => Promise.resolve(ok({ final, body })) } as unknown as HttpPort;
  const analyses: AnalysesPort = { run: () => Promise.resolve({ ok: false, reason: "too_slow" }) };
  const lookUp = lookUpOf("v=STSv1; id=1;");
  const found = await inspectMtaSts(netOf({ http, analyses }), lookUp, "good.test", 443, Promise.resolve([]));
  expect(found.result).toMatchObject({ mode: null, mx_match: null, policy: { valid: false, text: POLICY } });
  const context = { domain: "good.test", hosts: ["mail.good.test"], now: new Date(0) };
  expect(adviseOn(MTA_STS_ADVICE, found.drafts, context)).toMatchObject([
    {
      id: "mta-sts-policy-unreadable",
      severity: "warning",
      message: "The MTA-STS policy could not be read: the received data takes too long to analyse.",
    },
  ]);
});
