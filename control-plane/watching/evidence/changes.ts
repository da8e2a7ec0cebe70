import { listFirst } from "#shared/text/list.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";
import type { Change } from "#control-plane/watching/evidence/evidence.ts";
import { PHASES, type ComparedValues } from "#control-plane/watching/evidence/compared-values.ts";

/** The facts of a good check at one location. */
export interface Baseline {
  readonly location: string;
  readonly goodAt: Date;
  readonly facts: ComparedValues;
}

/** A phase has changed if it takes so many times as long as before, and so many milliseconds longer. */
const SLOWER_TIMES = 3;
const SLOWER_MS = 300;
/** Maximum length of a value, and number of items shown of a list. */
const MOST_VALUE = 300;
const MOST_SHOWN = 6;

/** The result of a comparison. */
interface Comparisons {
  readonly changed: readonly Change[];
  /** Every fact that was compared, changed or not, with the time of the good check that reported it. */
  readonly compared: readonly ComparedFact[];
}

/** A fact that was compared with that of a good check. */
export interface ComparedFact {
  readonly field: string;
  readonly at: Date;
}

/**
 * Compares what is found now with the last good checks, the most telling difference first. Each fact is compared with the
 * newest good check that tells it, one of the same location before those of others, and the difference names the time of
 * that check. Addresses and times are compared with the same location only, because they differ between places. Addresses
 * have changed if none has stayed, or if the one that is used now is new: large sites answer with different ones of a set
 * each time. What one of both checks does not tell is left out.
 */
export function compareValues(location: string, now: ComparedValues, baselines: readonly Baseline[]): Comparisons {
  const newest = baselines.toSorted((a, b) => b.goodAt.getTime() - a.goodAt.getTime());
  const here = newest.filter((one) => one.location === location);
  const all = [...here, ...newest.filter((one) => one.location !== location)];
  const changed: Change[] = [];
  const compared: ComparedFact[] = [];
  const compare = (field: string, among: readonly Baseline[], { isPresent, hasChanged, show }: Comparison): void => {
    const known = isPresent(now) ? among.find(({ facts }) => isPresent(facts)) : undefined;
    if (known === undefined) return;
    compared.push({ field, at: known.goodAt });
    if (!hasChanged(known.facts, now)) return;
    const [before, after] = [printed(show(known.facts)), printed(show(now))];
    changed.push({ field, before, after, last_good_at: known.goodAt.toISOString() });
  };
  compare("addresses", here, {
    isPresent: ({ addresses }) => addresses !== null,
    hasChanged: haveMoved,
    show: ({ addresses }) => listed(addresses),
  });
  compare("name_servers", newest.map(withNameServers), textsOf("nameServers"));
  compare("certificate", all, {
    isPresent: (facts) => facts.certificate !== null,
    hasChanged: (one, other) => one.certificate?.fingerprint !== other.certificate?.fingerprint,
    show: certificate,
  });
  compare("status", all, valueOf("status"));
  compare("redirect_target", all, valueOf("finalUrl"));
  compare("records", all, textsOf("records"));
  for (const phase of PHASES) {
    compare(phase, here, {
      isPresent: ({ phases }) => phases[phase] !== undefined,
      hasChanged: (before, after) => isSlower(before.phases[phase] ?? 0, after.phases[phase] ?? 0),
      show: ({ phases }) => `${Math.round(phases[phase] ?? 0)} ms`,
    });
  }
  return { changed, compared };
}

/** How one fact is compared. */
interface Comparison {
  readonly isPresent: (facts: ComparedValues) => boolean;
  readonly hasChanged: (before: ComparedValues, after: ComparedValues) => boolean;
  readonly show: (facts: ComparedValues) => string;
}

function valueOf(name: "status" | "finalUrl"): Comparison {
  return {
    isPresent: (facts) => facts[name] !== null,
    hasChanged: (before, after) => before[name] !== after[name],
    show: (facts) => String(facts[name]),
  };
}

function textsOf(name: "nameServers" | "records"): Comparison {
  return {
    isPresent: (facts) => facts[name] !== null,
    hasChanged: (before, after) => before[name]?.join("\n") !== after[name]?.join("\n"),
    show: (facts) => listed(facts[name]),
  };
}

function isSlower(before: number, after: number): boolean {
  return after >= before * SLOWER_TIMES && after - before >= SLOWER_MS;
}

/** Returns the time of the newest good check at a location, or at any if there is none; null if there is none at all. */
export function lastGoodAt(location: string, baselines: readonly Baseline[]): Date | null {
  const newest = baselines.toSorted((a, b) => b.goodAt.getTime() - a.goodAt.getTime());
  return (newest.find((one) => one.location === location) ?? newest[0])?.goodAt ?? null;
}

/** Dates a baseline by the look-up of its name servers, which is made once a day. */
function withNameServers(baseline: Baseline): Baseline {
  const { nameServersAt } = baseline.facts;
  return nameServersAt === null ? baseline : { ...baseline, goodAt: new Date(nameServersAt) };
}

function haveMoved(before: ComparedValues, now: ComparedValues): boolean {
  const { addresses: known } = before;
  if (known === null || now.addresses === null) return false;
  if (now.address !== null && !known.includes(now.address)) return true;
  return !now.addresses.some((address) => known.includes(address));
}

function certificate({ certificate: found }: ComparedValues): string {
  if (found === null) return "none";
  const { fingerprint, issuer, notAfter } = found;
  if (issuer === "" && notAfter === "") return fingerprint.slice(0, 16);
  return `${fingerprint.slice(0, 16)} of ${issuer}, valid until ${notAfter}`;
}

function listed(items: readonly string[] | null): string {
  return items === null || items.length === 0 ? "none" : listFirst(items, MOST_SHOWN);
}

function printed(text: string): string {
  return toPlainLine(text, MOST_VALUE);
}
