import { plainLine } from "#control-plane/incidents/cause/plain-line.ts";
import type { Change } from "#control-plane/evidence/evidence.ts";
import { PHASES, type Facts } from "#control-plane/evidence/facts.ts";

/** The facts of the newest good check at one location. */
export interface Baseline {
  readonly location: string;
  readonly goodAt: Date;
  readonly facts: Facts;
}

/** A phase has changed if it takes so many times as long as before, and so many milliseconds longer. */
const SLOWER_TIMES = 3;
const SLOWER_MS = 300;
/** Maximum length of a value, and number of items shown of a list. */
const MOST_VALUE = 300;
const MOST_SHOWN = 6;

/**
 * Compares what is found now with the last good checks, the most telling difference first. Addresses and times are
 * compared with the same location only, because they differ between places. Addresses have changed if none has stayed, or
 * if the one that is used now is new: large sites answer with different ones of a set each time. What one of both checks
 * does not tell is left out.
 */
export function findChanges(location: string, now: Facts, baselines: readonly Baseline[]): readonly Change[] {
  const newest = baselines.toSorted((a, b) => b.goodAt.getTime() - a.goodAt.getTime());
  const here = newest.find((one) => one.location === location);
  const changes: Change[] = [];
  const add = (field: string, { goodAt }: Baseline, before: string, after: string): void => {
    changes.push({ field, before: printed(before), after: printed(after), last_good_at: goodAt.toISOString() });
  };
  if (here !== undefined && haveMoved(here.facts, now)) {
    add("addresses", here, listed(here.facts.addresses), listed(now.addresses));
  }
  const named = newest.map(withNameServers).find(({ facts }) => facts.nameServers !== null);
  if (named !== undefined && now.nameServers !== null && !equal(named.facts.nameServers, now.nameServers)) {
    add("name_servers", named, listed(named.facts.nameServers), listed(now.nameServers));
  }
  const any = here ?? newest[0];
  if (any === undefined) return changes;
  const { facts } = any;
  if (facts.certificate !== null && now.certificate !== null && !sameCertificate(facts, now)) {
    add("certificate", any, certificate(facts), certificate(now));
  }
  if (facts.status !== null && now.status !== null && facts.status !== now.status) {
    add("status", any, String(facts.status), String(now.status));
  }
  if (facts.finalUrl !== null && now.finalUrl !== null && facts.finalUrl !== now.finalUrl) {
    add("redirect_target", any, facts.finalUrl, now.finalUrl);
  }
  if (facts.records !== null && now.records !== null && !equal(facts.records, now.records)) {
    add("records", any, listed(facts.records), listed(now.records));
  }
  if (here === undefined) return changes;
  for (const phase of PHASES) {
    const [before, after] = [here.facts.phases[phase], now.phases[phase]];
    if (before === undefined || after === undefined) continue;
    const isSlower = after >= before * SLOWER_TIMES && after - before >= SLOWER_MS;
    if (isSlower) add(phase, here, `${Math.round(before)} ms`, `${Math.round(after)} ms`);
  }
  return changes;
}

/** Dates a baseline by the look-up of its name servers, which is made once a day. */
function withNameServers(baseline: Baseline): Baseline {
  const { nameServersAt } = baseline.facts;
  return nameServersAt === null ? baseline : { ...baseline, goodAt: new Date(nameServersAt) };
}

function haveMoved(before: Facts, now: Facts): boolean {
  const { addresses: known } = before;
  if (known === null || now.addresses === null) return false;
  if (now.address !== null && !known.includes(now.address)) return true;
  return !now.addresses.some((address) => known.includes(address));
}

function equal(one: readonly string[] | null, other: readonly string[] | null): boolean {
  return one?.join("\n") === other?.join("\n");
}

function sameCertificate(one: Facts, other: Facts): boolean {
  return one.certificate?.fingerprint === other.certificate?.fingerprint;
}

function certificate({ certificate: found }: Facts): string {
  if (found === null) return "none";
  const { fingerprint, issuer, notAfter } = found;
  return `${fingerprint.slice(0, 16)} of ${issuer}, valid until ${notAfter}`;
}

function listed(items: readonly string[] | null): string {
  if (items === null || items.length === 0) return "none";
  const rest = items.length - MOST_SHOWN;
  return items.slice(0, MOST_SHOWN).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

function printed(text: string): string {
  return plainLine(text, MOST_VALUE);
}
