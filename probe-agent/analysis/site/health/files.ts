import { notApplicable, scored, type CheckFinding } from "#probe-agent/analysis/site/health/checks.ts";
import type { HealthSnapshot } from "#probe-agent/analysis/site/health/snapshot.ts";
import { parseSecurityTxt } from "#probe-agent/analysis/web/security-txt.ts";

/** What stands beside the page: its well-known files, and its address. */
export function fileFindings(
  snapshot: HealthSnapshot,
): Record<"indexable_robots" | "security_txt" | "ipv6", CheckFinding> {
  return {
    indexable_robots: robotsFinding(snapshot),
    security_txt: securityTxtFinding(snapshot),
    ipv6: ipv6Finding(snapshot),
  };
}

/** RFC 9309 section 2.3.1: 4xx means everything is allowed, 5xx that nothing is. */
function robotsFinding({ robots }: HealthSnapshot): CheckFinding {
  if (!robots.known) return notApplicable(robots.why);
  const value = String(robots.status);
  if (robots.status >= 500) return scored(0, value, "Crawlers take a failing robots.txt as a ban on everything.");
  if (robots.status >= 400) return scored(1, value, "There is none, so everything may be crawled.");
  if (robots.status !== 200) return scored(0, value, "robots.txt does not lead anywhere.");
  return robots.text === null
    ? scored(0, value, "robots.txt is no plain text.")
    : scored(1, value, "Crawlers can read it.");
}

function securityTxtFinding({ securityTxt, now }: HealthSnapshot): CheckFinding {
  if (!securityTxt.known) return notApplicable(securityTxt.why);
  const value = String(securityTxt.status);
  if (securityTxt.status !== 200 || securityTxt.text === null) {
    return scored(0, value, "Finders of a weakness are not told whom to write to.");
  }
  const { valid, expired, errors } = parseSecurityTxt(securityTxt.text, securityTxt.url, now);
  if (valid) return scored(1, value, "Finders of a weakness know whom to write to.");
  return scored(0, value, expired ? "The file has expired." : `The file is not valid: ${errors[0] ?? "no dates"}.`);
}

function ipv6Finding({ ipv6 }: HealthSnapshot): CheckFinding {
  if (!ipv6.known) return notApplicable(ipv6.why);
  return scored(ipv6.answers ? 1 : 0, ipv6.address, ipv6.why);
}
