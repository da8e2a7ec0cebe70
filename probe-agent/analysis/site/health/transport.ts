import { ciphersFinding } from "#probe-agent/analysis/site/health/ciphers.ts";
import { notApplicable, scored, type CheckId, type CheckFinding } from "#probe-agent/analysis/site/health/checks.ts";
import { expiryStage } from "#probe-agent/analysis/tls/ssl/findings.ts";
import type { HealthSnapshot, TlsFacts } from "#probe-agent/analysis/site/health/snapshot.ts";

type TlsCheck = Extract<CheckId, "trust" | "protocols" | "https_redirect" | "expiry" | "ciphers" | "key">;

/** Grades the checks of the category SSL/TLS. */
export function tlsFindings(snapshot: HealthSnapshot): Record<TlsCheck, CheckFinding> {
  const { tls } = snapshot;
  const https_redirect = redirectFinding(snapshot);
  if (!tls.known) {
    const left = notApplicable(tls.why);
    return { trust: left, protocols: left, https_redirect, expiry: left, ciphers: left, key: left };
  }
  if (!tls.offered) {
    // This is one fault and reported once: the checks that depend on it have the severity info.
    const nothing = scored(0, null, tls.why, { severity: "info" });
    const noRedirect = scored(0, https_redirect.value, "There is no HTTPS to redirect to.", { severity: "info" });
    const how = "Serve the site over HTTPS with a certificate of a public authority.";
    return {
      trust: scored(0, null, `The site has no HTTPS. ${tls.why}`, { severity: "critical", how }),
      protocols: nothing,
      https_redirect: noRedirect,
      expiry: nothing,
      ciphers: nothing,
      key: nothing,
    };
  }
  return {
    trust: trustFinding(tls),
    protocols: protocolsFinding(tls),
    https_redirect,
    expiry: expiryFinding(tls),
    ciphers: ciphersFinding(tls.suites),
    key: keyFinding(tls),
  };
}

/** Reports whether a browser connects without a warning. */
export function isTrusted(tls: TlsFacts): boolean {
  return tls.offered && tls.trusted;
}

function trustFinding(tls: TlsFacts): CheckFinding {
  if (isTrusted(tls)) return scored(8, "trusted", "Browsers trust the certificate.");
  const [mostSevere] = tls.reasons;
  const detail = [...tls.reasons.map(({ message }) => message), "Browsers show visitors a warning."].join(" ");
  return scored(0, tls.errors.join(", "), detail, {
    severity: "critical",
    ...(mostSevere?.how == null ? {} : { how: mostSevere.how }),
  });
}

function protocolsFinding({ versions }: TlsFacts): CheckFinding {
  const offered = [
    ...(versions.ssl3 === true ? ["SSL 3"] : []),
    ...(versions.below1_2 === true ? ["below TLS 1.2"] : []),
    ...(versions.tls1_2 === true ? ["TLS 1.2"] : []),
    ...(versions.tls1_3 === true ? ["TLS 1.3"] : []),
  ];
  const value = offered.join(", ");
  const note = versions.below1_2 === null ? " Whether older versions are offered is unknown." : "";
  if (versions.tls1_2 !== true && versions.tls1_3 !== true) {
    const detail = "Only versions that browsers no longer support are offered.";
    return scored(0, value, detail, { severity: "critical" });
  }
  if (versions.ssl3 === true) return scored(0, value, "SSL 3 is offered, which is insecure.", { severity: "critical" });
  if (versions.below1_2 === true) return scored(2, value, "TLS 1.0 or 1.1 is offered. Both are deprecated.");
  return versions.tls1_3 === true
    ? scored(5, value, `Only current versions are offered.${note}`)
    : scored(4, value, `TLS 1.3 is not offered.${note}`);
}

/** Grades the days left. They are compared with the certificate's lifetime, in the stages of the ssl tool. */
function expiryFinding({ daysLeft, lifetimeDays }: TlsFacts): CheckFinding {
  const value = `${daysLeft} days`;
  switch (expiryStage(daysLeft, lifetimeDays)) {
    case "far":
      return scored(3, value, "The certificate is not due for renewal.");
    case "due":
      return scored(1, value, `The certificate expires in ${value} and is due for renewal.`);
    case "urgent":
      return scored(0, value, `The certificate expires in ${value}.`);
    default:
      return scored(0, value, "The certificate has expired.", { severity: "critical" });
  }
}

function keyFinding({ key, keyStrong, signatureStrong }: TlsFacts): CheckFinding {
  const faults = [
    ...(keyStrong ? [] : ["the key is too short"]),
    ...(signatureStrong ? [] : ["the signature is weak"]),
  ];
  const detail = faults.length === 0 ? "Key and signature are strong." : `Weak: ${faults.join("; ")}.`;
  return scored(Number(keyStrong) + Number(signatureStrong), key, detail);
}

/** Grades how http:// leads to https:// (the cases are those of MDN). */
function redirectFinding({ http, preloaded }: HealthSnapshot): CheckFinding {
  if (preloaded)
    return scored(4, "preloaded", "Browsers never connect over HTTP, because the host is in the HSTS preload list.");
  if (!http.known) return notApplicable(http.why);
  if (!http.open) return scored(4, null, "No server answers over HTTP, so no redirect is needed.");
  const urls = http.route.flatMap(({ url }) => (URL.canParse(url) ? [new URL(url)] : []));
  const value = urls.map((url) => url.href).join(" -> ");
  const [first, second] = urls;
  const last = urls.at(-1);
  if (last?.protocol !== "https:") return scored(0, value, "http:// does not lead to HTTPS.");
  if (second?.protocol !== "https:") return scored(2, value, "http:// redirects to another http:// address first.");
  return first?.hostname === second.hostname
    ? scored(4, value, "http:// redirects directly to HTTPS.")
    : scored(3, value, "http:// redirects to another host, so HSTS does not protect this host.");
}
