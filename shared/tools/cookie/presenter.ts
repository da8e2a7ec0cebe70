import { existing, fact, table } from "#shared/presentation/build.ts";
import { definePresenter } from "#shared/tools/define-presenter.ts";
import { errorPageNote, pageFacts } from "#shared/presentation/page.ts";
import { counted, shortUrl, yesNo } from "#shared/presentation/values.ts";
import { verdictOfGrade, verdictOfPractice } from "#shared/presentation/verdict.ts";
import { describeDuration } from "#shared/text/duration.ts";
import { cookie as contract } from "#shared/tools/cookie/contract.ts";
import type { ResultOf } from "#shared/tools/define.ts";

type Cookies = ResultOf<typeof contract>;
type Cookie = Cookies["cookies"][number];

const PURPOSES: Readonly<Record<Cookie["purpose"], string | null>> = {
  session: "session",
  csrf: "protects forms",
  analytics: "analytics",
  ads: "advertising",
  lb: "load balancing",
  unknown: null,
};

/** cookie: how many cookies a page sets and for what, then each with its protection, and the trackers in the HTML. */
export const cookie = definePresenter(contract, (data, now) => {
  const { summary, grade, findings, cookies, trackers_in_html: trackers } = data;
  const of = (count: number): string | null => (summary.total === 0 ? null : `${count} of ${summary.total}`);
  const isGraded = summary.graded > 0;
  return {
    verdict: verdictOfPractice(grade, findings),
    headline: headlineOf(data),
    facts: existing(
      fact("Grade", isGraded ? grade : null, { tone: verdictOfGrade(grade) }),
      fact("Cookies", summary.total),
      fact("For tracking", of(summary.trackers)),
      fact("Of other sites", of(summary.third_party)),
      fact("Score", isGraded ? `${data.score} of 100` : null),
      fact("Only over HTTPS", of(summary.secure)),
      fact("Hidden from scripts", of(summary.http_only)),
      fact("With SameSite", of(summary.same_site)),
      fact("Dropped by browsers", summary.rejected === 0 ? null : of(summary.rejected), { tone: "warning" }),
      fact("Trackers in the HTML", trackers === null ? "unknown: it could not be read" : trackers.length),
      ...pageFacts(data),
    ),
    tables: existing(
      table(
        "Cookies",
        ["Name", "Purpose", "Lasts", "Secure", "HttpOnly", "SameSite", "Sent to", "Note"],
        cookies.map((one) => ({
          cells: [
            one.name === "" ? "(without a name)" : one.name,
            one.vendor ?? PURPOSES[one.purpose],
            lifetimeOf(one, now),
            yesNo(one.secure),
            yesNo(one.http_only),
            one.same_site ?? "no",
            `${one.host_only ? "" : "*."}${one.domain}${one.path === "/" ? "" : one.path}`,
            one.rejected_reason === null ? null : `browsers drop it: ${one.rejected_reason.replaceAll("_", " ")}`,
          ],
          tone: one.rejected_reason === null ? null : "warning",
        })),
        summary.total,
      ),
      table(
        "Trackers in the HTML",
        ["Host", "Operator", "Purpose"],
        (trackers ?? []).map(({ host, vendor, category }) => [host, vendor, category.replaceAll("_", " ")]),
      ),
    ),
  };
});

function headlineOf(data: Cookies): string {
  const { url, summary, grade, trackers_in_html: trackers } = data;
  const page = shortUrl(url);
  const note = errorPageNote(data);
  const inHtml = trackers === null || trackers.length === 0 ? "" : `${counted(trackers.length, "tracker")} in its HTML`;
  if (summary.total === 0) return `${page} sets no cookies${inHtml === "" ? "" : `, but has ${inHtml}`}${note}`;
  const sets = `${page} sets ${counted(summary.total, "cookie")}`;
  const dropped = summary.graded === 0 ? "all dropped by browsers or deleted" : null;
  const tracking = summary.trackers === 0 ? null : `${summary.trackers} for tracking`;
  return `${existing(sets, tracking, dropped ?? `grade ${grade}`).join(", ")}${note}`;
}

/** Says how long browsers keep a cookie. Max-Age takes precedence over Expires. */
function lifetimeOf({ session, deletes, max_age_s: age, expires }: Cookie, now: Date): string | null {
  if (deletes) return "deleted";
  if (session) return "session";
  if (age !== null) return describeDuration(age * 1_000);
  return expires === null ? null : describeDuration(Math.max(0, Date.parse(expires) - now.getTime()));
}
