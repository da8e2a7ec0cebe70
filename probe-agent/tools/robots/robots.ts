import { ok } from "#shared/contracts/outcome.ts";
import { completeUrl } from "#shared/internet/target-url.ts";
import { robots as contract } from "#shared/tools/robots/contract.ts";
import { robotsAnalysis } from "#probe-agent/analysis/web/robots/rules.ts";
import { fitFindings } from "#probe-agent/analysis/text/findings.ts";
import { describeRobotsFindings } from "#probe-agent/tools/robots/findings.ts";
import { runAnalysis } from "#probe-agent/sources/run-analysis.ts";
import { fetchRobots } from "#probe-agent/sources/robots-file.ts";
import { implement } from "#probe-agent/tools/implement.ts";

/** Analyses a site's rules for crawlers, by RFC 9309 and Google's parser. */
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
  const analysed = await runAnalysis(net, robotsAnalysis, {
    status,
    contentType,
    bytes,
    bots: net.data.aiBots,
    tested,
  });
  if (analysed.status !== "ok") return analysed;
  const report = analysed.data;
  const delivery = { ...answer, code: status };
  const fitted = fitFindings(describeRobotsFindings(delivery, report));
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
    findings: fitted.findings,
    source: ["robots.txt"],
    observed_at: observedAt,
    limitations: [
      ...report.limitations,
      ...fitted.limitations,
      ...(otherHost ? ["test_url is on another host, whose own robots.txt applies to it."] : []),
    ],
  });
});

/**
 * Resolves a URL as people type it, or a path of the site. Returns undefined if it is not a URL. "example.com/x" on
 * example.com is a URL of the site, with the site's scheme.
 */
function testedUrl(text: string, origin: string): string | undefined {
  const completed = completeUrl(text);
  const url = completed === null ? null : URL.parse(completed);
  const { host, protocol } = new URL(origin);
  if (url !== null && completed !== text && url.host === host) url.protocol = protocol;
  // A single word is a file of the site, not a host.
  const isHost = url !== null && (url.host === host || /[.[]/.test(url.hostname));
  return isHost ? url.href : URL.parse(text, `${origin}/`)?.href;
}
