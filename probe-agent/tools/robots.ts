import { ok } from "#shared/outcome.ts";
import { robots as contract } from "#shared/tools/robots.ts";
import { isHtml } from "#probe-agent/analysis/html.ts";
import {
  availabilityOf,
  effectiveFile,
  reportFile,
  testAgents,
  testBots,
  type Availability,
} from "#probe-agent/analysis/robots/report.ts";
import type { RobotsFile } from "#probe-agent/analysis/robots/parse.ts";
import { fetchRobots, type RobotsAnswer } from "#probe-agent/sources/robots-file.ts";
import { implement } from "#probe-agent/tools/implement.ts";

/** The rules of a site for crawlers, by RFC 9309 as Google's parser reads it. */
export const robots = implement(contract, async (net, { domain, test_url: testUrl }) => {
  const observedAt = net.now().toISOString();
  const fetched = await fetchRobots(net, domain);
  if (fetched.status !== "ok") return fetched;
  const answer = fetched.data;
  const tested = testUrl === undefined ? `${answer.origin}/` : URL.parse(testUrl, `${answer.origin}/`)?.href;
  if (tested === undefined || !/^https?:/.test(tested)) {
    return { status: "invalid", field: "test_url", message: "must be an http(s) URL or a path of the site" };
  }
  const availability = availabilityOf(answer.status);
  const file = effectiveFile(answer.bytes, availability);
  const report = reportFile(file);
  const otherHost = new URL(tested).host !== new URL(answer.origin).host;
  return ok({
    domain,
    fetched_url: answer.url,
    status: answer.status,
    availability,
    content_type: answer.contentType,
    size_bytes: answer.bytes.byteLength,
    truncated: answer.truncated,
    ...report.fields,
    test: { url: tested, user_agents: testAgents(file, tested, net.data.aiBots) },
    ai_bots: testBots(file, net.data.aiBots),
    issues: issuesOf(answer, file, availability),
    source: ["robots.txt"],
    observed_at: observedAt,
    limitations: [
      ...report.limitations,
      ...(otherHost ? ["test_url is of another host, whose own robots.txt counts for it."] : []),
    ],
  });
});

function issuesOf(answer: RobotsAnswer, file: RobotsFile, availability: Availability): string[] {
  const { status, contentType, bytes, truncated } = answer;
  const isText = /^text\/plain\b/i.test(contentType ?? "");
  const html = availability === "parsed" && (isHtml(contentType, bytes) || isHtml(null, bytes));
  return [
    ...(status === 429 ? ["Crawlers are turned away with 429; Google takes that for a ban on everything."] : []),
    ...(availability === "disallow_all" ? ["Crawlers take a failing robots.txt for a ban on everything."] : []),
    ...(html ? ["HTML came in the place of robots.txt; hardly a line of it is a rule."] : []),
    ...(availability === "parsed" && !html && !isText
      ? ["It is not served as text/plain (RFC 9309 section 2.3)."]
      : []),
    ...(truncated ? ["It is larger than 500 KiB; crawlers may ignore what is beyond."] : []),
    ...(file.errors.length > 0 ? [`${file.errors.length} lines are no rules.`] : []),
    ...(file.lenientLines.length > 0
      ? [`${file.lenientLines.length} lines are understood by lenient crawlers only.`]
      : []),
    ...(new URL(answer.url).host === new URL(answer.origin).host ? [] : ["It is fetched from another host."]),
  ];
}
