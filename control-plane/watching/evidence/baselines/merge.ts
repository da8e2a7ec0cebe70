import type { Baseline } from "#control-plane/watching/evidence/changes.ts";
import { hostOf } from "#control-plane/watching/evidence/cause-key.ts";
import { readShortValues, type ComparedValues } from "#control-plane/watching/evidence/compared-values.ts";
import type { StoredGoodCheck } from "#control-plane/watching/checking/snapshots/good-check.ts";

/** The newest good check of a location, in short. */
interface ShortBaseline {
  readonly location: string;
  readonly goodAt: Date;
  readonly good: StoredGoodCheck;
}

/** The monitor that they are about. */
interface Target {
  readonly url: string;
  readonly checkType: string;
}

/**
 * Combines the newest good checks with the older ones that were reported in full. Each keeps the time of its check. A
 * short result has the fingerprint of the certificate of the target's own host; what else is known about that certificate
 * comes from a full result.
 */
export function mergeBaselines(
  target: Target,
  full: readonly Baseline[],
  short: readonly ShortBaseline[],
): readonly Baseline[] {
  const made = short.map(({ location, goodAt, good }): Baseline => {
    const facts = readShortValues(target.checkType, good);
    const known = full.find((one) => one.location === location) ?? full[0];
    return {
      location,
      goodAt,
      facts: { ...facts, certificate: describeCertificate(target, good, known?.facts, full) },
    };
  });
  return [...full, ...made].toSorted((a, b) => b.goodAt.getTime() - a.goodAt.getTime());
}

/** Returns null where redirects end at another host: the certificates that are compared are those of the last one. */
function describeCertificate(
  target: Target,
  { fingerprint }: StoredGoodCheck,
  known: ComparedValues | undefined,
  full: readonly Baseline[],
): ComparedValues["certificate"] {
  if (fingerprint === null || !endsAtTarget(target, known?.finalUrl ?? null)) return null;
  const same = full.find(({ facts }) => facts.certificate?.fingerprint === fingerprint);
  return same?.facts.certificate ?? { fingerprint, issuer: "", notAfter: "" };
}

function endsAtTarget(target: Target, finalUrl: string | null): boolean {
  return finalUrl === null || hostOf({ url: finalUrl, checkType: target.checkType }) === hostOf(target);
}
