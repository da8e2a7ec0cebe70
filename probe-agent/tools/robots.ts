import { ok } from "#shared/outcome.ts";
import { BODY_BREAKS } from "#shared/tools/http/body.ts";
import { completeUrl } from "#shared/target-url.ts";
import { robots as contract } from "#shared/tools/robots.ts";
import type { ReportOf } from "#probe-agent/analysis/site/analyses.ts";
import { analyse } from "#probe-agent/sources/analyse.ts";
import { fetchRobots, type RobotsAnswer } from "#probe-agent/sources/robots-file.ts";
import { implement } from "#probe-agent/tools/implement.ts";

/** The rules of a site for crawlers, by RFC 9309 as Google's parser reads it. */
export const robots = implement(contract, async (net, { domain, test_url: testUrl }) => {
  const observedAt = net.now().toISOString();
  const fetched = await fetchRobots(net, domain);
  if (fetched.status !== "ok") return fetched;
  const answer = fetched.data;
  const tested = testedUrl(testUrl ?? "/", answer.origin);
  if (tested === undefined || !/^https?:/.test(tested)) {
    return { status: "invalid", field: "test_url", message: "must be an http(s) URL or a path of the site" };
  }
  const { status, contentType, bytes } = answer;
  const analysed = await analyse(net, "robots", { status, contentType, bytes, bots: net.data.aiBots, tested });
  if (analysed.status !== "ok") return analysed;
  const report = analysed.data;
  const otherHost = new URL(tested).host !== new URL(answer.origin).host;
  return ok({
    domain,
    fetched_url: answer.url,
    code: status,
    availability: report.availability,
    content_type: contentType,
    size_bytes: bytes.byteLength,
    truncated: answer.truncated,
    ...report.fields,
    test: { url: tested, user_agents: report.agents },
    ai_bots: report.bots,
    issues: issuesOf(answer, report),
    source: ["robots.txt"],
    observed_at: observedAt,
    limitations: [
      ...report.limitations,
      ...(otherHost ? ["test_url is of another host, whose own robots.txt counts for it."] : []),
    ],
  });
});

/** A URL as people type it, or a path of the site. "example.com/x" on example.com is of the site, whatever its scheme. */
function testedUrl(text: string, origin: string): string | undefined {
  const completed = completeUrl(text);
  const url = completed === null ? null : URL.parse(completed);
  const { host, protocol } = new URL(origin);
  if (url !== null && completed !== text && url.host === host) url.protocol = protocol;
  // A word alone is a file of the site rather than a host.
  const isHost = url !== null && (url.host === host || /[.[]/.test(url.hostname));
  return isHost ? url.href : URL.parse(text, `${origin}/`)?.href;
}

const FOREIGN: Readonly<Record<NonNullable<ReportOf<"robots">["foreign"]>, string>> = {
  HTML: "HTML came in the place of robots.txt; hardly a line of it is a rule.",
  XML: "XML came in the place of robots.txt; hardly a line of it is a rule.",
  JSON: "JSON came in the place of robots.txt; hardly a line of it is a rule.",
  "UTF-16": "It is encoded in UTF-16; crawlers read UTF-8 (RFC 9309 section 2.3).",
};

function issuesOf(answer: RobotsAnswer, report: ReportOf<"robots">): string[] {
  const { status, contentType, truncated, broken } = answer;
  const { availability, foreign, saysNothing, errors, lenient, faults } = report;
  const isText = /^text\/plain\b/i.test(contentType ?? "");
  return [
    ...(status === 429 ? ["Crawlers are turned away with 429; Google takes that for a ban on everything."] : []),
    ...(availability === "disallow_all" ? ["Crawlers take a failing robots.txt for a ban on everything."] : []),
    ...(foreign === null ? [] : [FOREIGN[foreign]]),
    ...(foreign === null && saysNothing ? ["No line of it is a rule; an error page may have been sent as text."] : []),
    ...(availability === "parsed" && foreign === null && !isText
      ? ["It is not served as text/plain (RFC 9309 section 2.3)."]
      : []),
    ...(broken === null ? [] : [`It was cut short: ${BODY_BREAKS[broken]}. Rules further down are not known.`]),
    ...(truncated ? ["It is larger than 500 KiB; crawlers may ignore what is beyond."] : []),
    ...(foreign === null && errors > 0 ? [`${errors} lines are no rules.`] : []),
    ...(foreign === null && lenient > 0 ? [`${lenient} lines are understood by lenient crawlers only.`] : []),
    ...faults,
    ...(new URL(answer.url).host === new URL(answer.origin).host ? [] : ["It is fetched from another host."]),
  ];
}
