import { existing, fact, table, waterfall } from "#shared/presentation/build.ts";
import type { Series, Table, Verdict } from "#shared/presentation/presentation.ts";
import { definePresenter } from "#shared/tools/define-presenter.ts";
import { counted, moment, percent, yesNo } from "#shared/presentation/values.ts";
import { verdictOf, worst } from "#shared/presentation/verdict.ts";
import { writeDuration } from "#shared/text/duration.ts";
import { cutLine } from "#shared/text/plain-line.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { emailHeader as contract } from "#shared/tools/email-header/contract.ts";
import { listAll } from "#shared/text/list.ts";

type EmailHeader = ResultOf<typeof contract>;
type Hop = EmailHeader["hops"][number];

/** Characters of a host beside a bar. */
const MOST_LABEL = 30;

/** email-header: whether the sender is proven, then how long the message took and where it waited. */
export const emailHeader = definePresenter(contract, (data, now) => {
  const { auth, spf_now: today, arrival } = data;
  const sender = describeSender(data);
  const dkim = data.auth.dkim.map(({ result }) => result);
  return {
    verdict: worst([verdictOf(data.findings), verdictOfSender(data)]),
    headline: headlineOf(data),
    facts: existing(
      fact("From", data.from),
      fact("Sender proven", describeProof(data), { tone: verdictOfSender(data) }),
      fact("SPF", auth.spf?.result, { tone: toneOfResult(auth.spf?.result) }),
      fact("DKIM", dkim.join(", "), { tone: toneOfResult(dkim.includes("pass") ? "pass" : dkim[0]) }),
      fact("DMARC", auth.dmarc?.result, { tone: toneOfResult(auth.dmarc?.result) }),
      fact("SPF today", today?.agrees === false ? today.result : null, { tone: toneOfResult(today?.result) }),
      fact("Delivery time", writeDelay(data.total_delay_s)),
      fact("Encrypted", data.tls_pct === null ? null : `${percent(data.tls_pct)} of the hops`, {
        tone: data.tls_pct !== null && data.tls_pct < 100 ? "warning" : null,
      }),
      fact("Results by", auth.authserv_id),
      fact("To", data.to),
      fact("Subject", data.subject),
      fact("Sent", data.date === null ? null : moment(data.date, now)),
      fact("Arrived", arrival.source === "now" || arrival.time === null ? null : moment(arrival.time, now)),
      fact("Answers go to", data.reply_to),
      fact("Failures go to", data.return_path === sender ? null : data.return_path),
      fact("First public address", data.originating_ip),
    ),
    series: existing(delaySeries(data)),
    tables: existing(
      routeTable(data.hops, data.hop_count),
      authenticationTable(data),
      table(
        "Spam filters",
        ["Field", "Result", "Score", "Value"],
        data.spam_headers.map(({ name, verdict, score, threshold, value }) => ({
          cells: [
            name,
            verdict,
            score === null ? null : threshold === null ? score : `${score} of ${threshold}`,
            value,
          ],
          tone: verdict === "spam" ? "warning" : null,
        })),
      ),
    ),
  };
});

function verdictOfSender({ alignment, auth }: EmailHeader): Verdict {
  if (alignment.aligned === null) return "neutral";
  return alignment.aligned && auth.confirmed !== false ? "good" : "warning";
}

function describeProof({ alignment, auth }: EmailHeader): string {
  if (alignment.aligned === null) return "not known: the headers have no results";
  if (auth.confirmed === false) return "no: the results may be forged";
  return alignment.aligned ? `yes, by ${listPassed(alignment)}` : "no";
}

function headlineOf(data: EmailHeader): string {
  const { alignment, auth, hop_count: count, total_delay_s: delay } = data;
  const from = describeSender(data);
  const isTimed = delay !== null && delay >= 0;
  const way =
    count === 0 ? "" : `, delivered ${isTimed ? `in ${writeDuration(delay)} ` : ""}over ${counted(count, "hop")}`;
  if (auth.dmarc?.result === "fail") return `The sender ${from} is not proven: DMARC failed${way}`;
  if (alignment.aligned === null) return `The sender ${from} was not checked: the headers have no results${way}`;
  if (auth.confirmed === false) return `The sender ${from} is not proven: the results may be forged${way}`;
  if (!alignment.aligned) return `The sender ${from} is not proven: neither SPF nor DKIM passed for its domain${way}`;
  const today = data.spf_now?.agrees === false && data.spf_now.result === "fail" ? "; SPF fails today" : "";
  return `The sender ${from} is proven by ${listPassed(alignment)}${way}${today}`;
}

/** Writes a delay: "3 min"; a negative one comes from clocks that differ. */
function writeDelay(seconds: number | null): string | null {
  if (seconds === null) return null;
  return seconds < 0 ? `${seconds} s (clocks differ)` : writeDuration(seconds);
}

function delaySeries({ hops, date_to_first_hop_s: first }: EmailHeader): Series | null {
  const phases = hops.map(({ n, by, delay_s: delay }, index) => {
    const label = `${n} ${cutLine(by ?? "unknown host", MOST_LABEL)}`;
    return [label, index === 0 ? first : delay] as const;
  });
  return waterfall("Until each host had the message", "s", phases);
}

function routeTable(hops: readonly Hop[], total: number): Table | null {
  return table(
    "Route",
    ["#Hop", "From", "Address", "To", "Encrypted", "Delay"],
    hops.map((hop) => ({
      cells: [hop.n, hop.rdns ?? hop.from, describeAddress(hop), hop.by, describeTls(hop), writeDelay(hop.delay_s)],
      tone: hop.delay_s !== null && hop.delay_s < 0 ? "warning" : null,
    })),
    total,
  );
}

function describeAddress({ ip, ip_geo: geo }: Hop): string | null {
  return ip === null ? null : existing(ip, geo?.country).join(", ");
}

function describeTls({ tls }: Hop): string {
  if (tls === null) return "not recorded";
  return tls.version?.replace(/^TLSv/, "TLS ") ?? "yes";
}

/** Results of authentication methods that mean a failure (RFC 8601 section 2.7). */
const FAILURES: ReadonlySet<string> = new Set(["fail", "permerror", "policy"]);
const DOUBTS: ReadonlySet<string> = new Set(["softfail", "neutral", "temperror"]);

/** Returns how a result of a method is marked; null if it says nothing. */
function toneOfResult(result: string | undefined): Verdict | null {
  const word = result?.toLowerCase() ?? "";
  if (word === "pass") return "good";
  return FAILURES.has(word) ? "bad" : DOUBTS.has(word) ? "warning" : null;
}

/** Names the sender by the address in From, else by its text. */
function describeSender({ addresses, from }: Pick<EmailHeader, "addresses" | "from">): string {
  return (
    addresses.find(({ field, address }) => field.toLowerCase() === "from" && address !== "")?.address ??
    from ??
    "(none)"
  );
}

/** Lists the methods that passed for the domain in From: "SPF and DKIM". */
function listPassed({ spf, dkim }: EmailHeader["alignment"]): string {
  const has = (one: { readonly result: string | null; readonly relaxed: boolean | null }): boolean =>
    one.result?.toLowerCase() === "pass" && one.relaxed === true;
  return listAll([...(has(spf) ? ["SPF"] : []), ...(dkim.some(has) ? ["DKIM"] : [])]);
}

/** Lists what the receiving host found out about the sender, and what SPF says today; null if there are no results. */
function authenticationTable({ auth, alignment, spf_now: today }: EmailHeader): Table | null {
  const rows = [
    ...(auth.spf === null
      ? []
      : [["SPF", auth.spf.result, auth.spf.domain, yesNo(alignment.spf.relaxed), auth.spf.reason] as const]),
    ...(today === null
      ? []
      : [["SPF today", today.result, today.domain, null, today.reason ?? today.mechanism] as const]),
    ...auth.dkim.map(
      (one, index) => ["DKIM", one.result, one.domain, yesNo(alignment.dkim[index]?.relaxed), one.reason] as const,
    ),
    ...(auth.dmarc === null
      ? []
      : [["DMARC", auth.dmarc.result, auth.dmarc.domain, null, auth.dmarc.reason ?? auth.dmarc.disposition] as const]),
    ...(auth.arc === null ? [] : [["ARC", auth.arc.result, null, null, auth.arc.reason] as const]),
    ...auth.others.map((one) => [one.method, one.result, null, null, one.reason] as const),
  ];
  return table(
    "Authentication",
    ["Method", "Result", "Domain", "Same as From", "Reason"],
    rows.map((cells) => ({ cells, tone: toneOfResult(cells[1]) })),
  );
}
