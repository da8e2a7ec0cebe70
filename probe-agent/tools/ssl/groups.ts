import type { GroupsSeen } from "#probe-agent/analysis/tls/ssl/configuration.ts";
import { OLD_GROUPS, TLS13_GROUPS } from "#probe-agent/analysis/tls/ssl/groups.ts";
import { suiteLanes, type Version } from "#probe-agent/analysis/tls/ssl/hellos.ts";
import { suitesOf } from "#probe-agent/analysis/tls/ssl/suites.ts";
import type { ClientHello } from "#probe-agent/port/tls.ts";
import { eliminate, joinEliminations, type Elimination } from "#probe-agent/tools/ssl/elimination.ts";
import type { Prober } from "#probe-agent/tools/ssl/prober.ts";
import { helloFor, type VersionSeen } from "#probe-agent/tools/ssl/versions.ts";

const NO_GROUP = -1;

/**
 * Lists the groups of TLS 1.3. For a hello without a key share, the server selects a group (RFC 8446 section 4.1.4).
 */
export async function listTls13Groups(prober: Prober, seen: VersionSeen): Promise<GroupsSeen> {
  const suites = suiteLanes(seen.version).common.flat();
  const hello = helloFor(seen, prober.servername, suites);
  const question = {
    ask: (groups: readonly number[]) => prober.ask({ ...hello, groups, keyShares: [] }),
    choice: ({ group }: { group: number | null }) => group ?? NO_GROUP,
  };
  const lanes = await Promise.all(TLS13_GROUPS.map((lane) => eliminate(lane, question)));
  return combine(seen.version, lanes, []);
}

/**
 * Lists the groups of a version before TLS 1.3, where ServerKeyExchange contains the curve. Returns null without ECDHE
 * suites. The groups offered also limit the curve of the server's own EC key (RFC 8422 section 5.1.1). If the server
 * has no RSA key, every hello therefore offers `ownCurve` last, and that curve is found if the server chooses it.
 */
export async function listOldGroups(
  prober: Prober,
  seen: VersionSeen,
  taken: readonly number[],
  ownCurve: number | null,
): Promise<GroupsSeen | null> {
  const ephemeral = suitesOf(taken).filter(({ kx, auth }) => kx === "ECDHE" && auth !== "PSK");
  if (ephemeral.length === 0) return null;
  const withoutEcKey = ephemeral.filter(({ auth }) => auth !== "ECDSA");
  const requiredCurve = withoutEcKey.length > 0 ? null : ownCurve;
  const suites = (withoutEcKey.length > 0 ? withoutEcKey : ephemeral).map(({ code }) => code);
  const hello: ClientHello = helloFor(seen, prober.servername, suites);
  let isChosen = false;
  const question = {
    ask: (left: readonly number[]) =>
      prober.ask({ ...hello, groups: requiredCurve === null ? left : [...left, requiredCurve] }, true),
    choice: ({ group }: { group: number | null }) => {
      if (group === null) return NO_GROUP;
      isChosen ||= group === requiredCurve;
      return group === requiredCurve ? null : group;
    },
  };
  const lanes = await Promise.all(
    OLD_GROUPS.map((lane) =>
      eliminate(
        lane.filter((group) => group !== requiredCurve),
        question,
      ),
    ),
  );
  return combine(seen.version, lanes, isChosen && requiredCurve !== null ? [requiredCurve] : []);
}

function combine(version: Version, lanes: readonly Elimination[], more: readonly number[]): GroupsSeen {
  const { taken, complete } = joinEliminations(lanes);
  return { version, codes: [...taken, ...more], complete };
}
