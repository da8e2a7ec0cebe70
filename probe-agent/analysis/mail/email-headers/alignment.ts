import type { HeaderRows } from "#probe-agent/analysis/mail/email-headers/rows.ts";
import { registrableDomain } from "#shared/internet/registrable-domain.ts";
import { alignmentOf } from "#probe-agent/analysis/mail/email-headers/domains.ts";

type Result = HeaderRows;
type Alignment = Result["alignment"];

/** Facts that decide on alignment. */
interface AlignmentFacts {
  readonly fromDomain: string | null;
  /** Domain of Return-Path, used if the receiver does not name the domain that it checked. */
  readonly bounceDomain: string | null;
  readonly auth: Result["auth"];
  readonly signatures: Result["dkim_signatures"];
}

const MAX_ROWS = 50;

/** Compares the domain of From with the authenticated domains (RFC 7489 section 3.1). */
export function describeAlignment({ fromDomain, bounceDomain, auth, signatures }: AlignmentFacts): Alignment {
  const row = (domain: string | null, result: string | null): Alignment["spf"] => {
    const aligned = alignmentOf(fromDomain, domain);
    return { domain, result, strict: aligned?.strict ?? null, relaxed: aligned?.relaxed ?? null };
  };
  const spf = row(auth.spf === null ? bounceDomain : auth.spf.domain, auth.spf?.result ?? null);
  const results = auth.dkim.map(({ domain, result }) => row(domain, result));
  const dkim = results.length > 0 ? results : signatures.map(({ d }) => row(d, null));
  const isSilent = auth.spf === null && auth.dkim.length === 0;
  const proves = ({ result, relaxed }: Alignment["spf"]): boolean => result === "pass" && relaxed === true;
  return {
    from_domain: fromDomain,
    registrable_domain: registrableDomain(fromDomain),
    spf,
    dkim: dkim.slice(0, MAX_ROWS),
    aligned: isSilent || fromDomain === null ? null : [spf, ...results].some(proves),
  };
}
