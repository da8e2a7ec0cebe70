import {
  FOLLOWED_DELAY_S,
  isRedirectStatus,
  type RedirectChain,
  type RedirectStep,
} from "#probe-agent/analysis/web/redirects/chain.ts";
import { headerValues } from "#probe-agent/analysis/http/header-list.ts";
import { isSameSite } from "#probe-agent/analysis/http/same-site.ts";

/** A finding about a chain. */
export interface RedirectIssue {
  readonly severity: "error" | "warning" | "info";
  /** Stable word. */
  readonly code: string;
  readonly message: string;
  /** Number of the hop from 1; null for the whole chain. */
  readonly hop: number | null;
}

/** More redirects than these cost visitors and crawlers time. */
const LONG_CHAIN = 3;
/** Longer Locations are refused by some clients and servers. */
const LONG_LOCATION = 2048;
const SEVERITIES = ["error", "warning", "info"];

/** What is wrong with a chain, the gravest first, else in its order. */
export function findIssues(chain: RedirectChain): RedirectIssue[] {
  const { steps } = chain;
  const issues = steps.flatMap((step, index) => {
    const next = steps[index + 1];
    return [...ofResponse(step), ...ofRefresh(step, next !== undefined), ...ofStep(step, next)].map(
      ([severity, code, message]): RedirectIssue => ({ severity, code, message, hop: index + 1 }),
    );
  });
  const all = [...ofEnd(chain), ...issues, ...ofWhole(chain)];
  return all.toSorted((one, other) => SEVERITIES.indexOf(one.severity) - SEVERITIES.indexOf(other.severity));
}

type Finding = readonly [severity: RedirectIssue["severity"], code: string, message: string];

function ofEnd({ steps, stopped, deadEnd }: RedirectChain): RedirectIssue[] {
  const hop = steps.length;
  switch (stopped) {
    case "loop":
      return [{ severity: "error", code: "loop", message: "The chain leads back to where it was.", hop }];
    case "too_many_redirects":
      return [{ severity: "error", code: "too_many_redirects", message: "The chain goes on beyond max.", hop }];
    case "dead_end":
    case "refresh_failed": {
      const what = stopped === "dead_end" ? "redirect" : "refresh";
      const message = `The ${what} leads to where nothing answers: ${deadEnd?.failure.message}.`;
      return [{ severity: "error", code: stopped, message, hop }];
    }
    case "refresh_refused":
      return [
        {
          severity: "error",
          code: "refresh_refused",
          message: "The refresh leads to an address that may not be contacted.",
          hop,
        },
      ];
    default:
      return [];
  }
}

/** What the response says of where to go. */
function ofResponse({ hop }: RedirectStep): Finding[] {
  const values = headerValues(hop.headers, "location");
  const [raw = ""] = values;
  const findings: Finding[] = [];
  const add = (...finding: Finding): void => void findings.push(finding);
  if (hop.code === 300) add("info", "multiple_choices", "300 leaves the choice to the visitor; no client follows it.");
  if (hop.code === 304) add("warning", "unexpected_304", "304 answers a request that was not conditional.");
  if (hop.code === 305 || hop.code === 306)
    add("error", "obsolete_status", `${hop.code} is obsolete; no client follows it.`);
  if (!isRedirectStatus(hop.code)) return findings;
  if (values.length === 0) add("error", "missing_location", "The status is a redirect, without a Location.");
  else if (hop.location === null) {
    const several = new Set(values).size > 1;
    if (several) add("error", "several_locations", "Location is there more than once, with different values.");
    else
      add(
        "error",
        "bad_location",
        raw === "" ? "Location is empty." : "Location is no URL, or has characters that clients disagree about.",
      );
  } else if (!/^https?:/.test(hop.location)) {
    add("error", "other_scheme", `Location leads to a ${new URL(hop.location).protocol} address.`);
  }
  if (raw.length > LONG_LOCATION) add("warning", "long_location", `Location has ${raw.length} characters.`);
  if (/[^\u0021-\u007e]/.test(raw)) {
    add("warning", "unencoded_location", "Location has characters that a URL must percent-encode.");
  }
  if (raw.startsWith("//")) add("info", "scheme_relative_location", "Location takes the scheme of the request.");
  return findings;
}

function ofRefresh({ hop, refresh }: RedirectStep, followed: boolean): Finding[] {
  if (refresh === null) return [];
  const what = refresh.kind === "refresh_header" ? "A Refresh header" : "A meta refresh";
  if (refresh.kind === "noscript" && !followed) {
    return [["info", "noscript_refresh", "Browsers that run no scripts are sent on by a meta refresh in noscript."]];
  }
  if (refresh.target === null) return [["error", "refresh_target", `${what} leads to no address of the web.`]];
  if (refresh.reloads) {
    return [["info", "reloads_itself", `${what} loads the page again after ${refresh.delaySeconds} s.`]];
  }
  if (!followed && refresh.delaySeconds > FOLLOWED_DELAY_S) {
    return [["info", "slow_refresh", `${what} leads on after ${refresh.delaySeconds} s; it was not followed.`]];
  }
  const advice = "a redirect by status is faster and kept in history as it should be";
  const status = hop.code >= 400 ? ` of a response of status ${hop.code}` : "";
  return [["warning", "refresh", `${what}${status} leads on: ${advice}.`]];
}

/** What is wrong with going from here to there. */
function ofStep({ hop }: RedirectStep, next: RedirectStep | undefined): Finding[] {
  if (next === undefined) return [];
  const from = new URL(hop.url);
  const to = new URL(next.hop.url);
  if (from.protocol === "https:" && to.protocol === "http:") {
    return [["warning", "downgrade", "Leads from https to http: whoever is on the way can read and change it."]];
  }
  const temporary = hop.code === 302 || hop.code === 303 || hop.code === 307;
  const isUpgrade = from.protocol === "http:" && to.protocol === "https:";
  if (isUpgrade && temporary && isSameSite(from.hostname, to.hostname)) {
    return [
      ["info", "temporary_upgrade", `The way to https is said to be temporary (${hop.code}); 301 or 308 is kept.`],
    ];
  }
  return [];
}

function ofWhole({ steps }: RedirectChain): RedirectIssue[] {
  const last = steps.at(-1);
  const count = steps.length - 1;
  const issues: RedirectIssue[] = [];
  if (count > LONG_CHAIN) {
    const message = `${count} redirects: each costs a round trip, and crawlers give up on long chains.`;
    issues.push({ severity: "warning", code: "long_chain", message, hop: null });
  }
  if (last?.hop.url.startsWith("http:") === true) {
    const message = "The chain ends at http: the page is not encrypted.";
    issues.push({ severity: "warning", code: "ends_at_http", message, hop: steps.length });
  }
  if ((last?.hop.code ?? 0) >= 400) {
    const message = `The chain ends with status ${last?.hop.code}.`;
    issues.push({ severity: "error", code: "ends_in_error", message, hop: steps.length });
  }
  if (steps.some(({ hop }) => hop.tls?.authorized === false)) {
    const at = steps.findIndex(({ hop }) => hop.tls?.authorized === false);
    const message = `The certificate is not good (${steps[at]?.hop.tls?.error}): browsers stop here.`;
    issues.push({ severity: "error", code: "bad_certificate", message, hop: at + 1 });
  }
  return issues;
}
