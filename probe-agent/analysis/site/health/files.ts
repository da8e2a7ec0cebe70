import { notApplicable, scored, type CheckFinding } from "#probe-agent/analysis/site/health/checks.ts";
import type { HealthSnapshot } from "#probe-agent/analysis/site/health/snapshot.ts";
import { parseSecurityTxt } from "#probe-agent/analysis/web/security-txt.ts";

/** Grades the well-known files of a site and its IPv6 address. */
export function fileFindings(
  snapshot: HealthSnapshot,
): Record<"indexable_robots" | "security_txt" | "ipv6", CheckFinding> {
  return {
    indexable_robots: robotsFinding(snapshot),
    security_txt: securityTxtFinding(snapshot),
    ipv6: ipv6Finding(snapshot),
  };
}

/** Grades robots.txt. A 4xx status means that everything is allowed, 5xx that nothing is (RFC 9309 section 2.3.1). */
function robotsFinding({ robots }: HealthSnapshot): CheckFinding {
  if (!robots.known) return notApplicable(robots.why);
  const value = String(robots.status);
  if (robots.status >= 500)
    return scored(0, value, "robots.txt is served with an error, so crawlers treat every URL as disallowed.");
  if (robots.status >= 400) return scored(1, value, "There is no robots.txt, so every URL is allowed.");
  if (robots.status !== 200)
    return scored(0, value, `The request for robots.txt returns no file (status ${robots.status}).`);
  return robots.text === null
    ? scored(0, value, "robots.txt is not plain text.")
    : scored(1, value, "robots.txt is readable.");
}

function securityTxtFinding({ securityTxt, now }: HealthSnapshot): CheckFinding {
  if (!securityTxt.known) return notApplicable(securityTxt.why);
  const value = String(securityTxt.status);
  if (securityTxt.status !== 200 || securityTxt.text === null) {
    return scored(0, value, "There is no security.txt, so security researchers do not know whom to contact.");
  }
  const { valid, expired, errors } = parseSecurityTxt(securityTxt.text, securityTxt.url, now);
  if (valid) return scored(1, value, "security.txt tells security researchers whom to contact.");
  return scored(
    0,
    value,
    expired ? "security.txt has expired." : `security.txt is not valid: ${errors[0] ?? "no dates"}.`,
  );
}

function ipv6Finding({ ipv6 }: HealthSnapshot): CheckFinding {
  if (!ipv6.known) return notApplicable(ipv6.why);
  return scored(ipv6.answers ? 1 : 0, ipv6.address, ipv6.why);
}
