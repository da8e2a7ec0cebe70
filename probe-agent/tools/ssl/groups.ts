import type { GroupsSeen } from "#probe-agent/analysis/tls/ssl/configuration.ts";
import { OLD_GROUPS, TLS13_GROUPS } from "#probe-agent/analysis/tls/ssl/groups.ts";
import { suiteLanes, type Version } from "#probe-agent/analysis/tls/ssl/hellos.ts";
import { suitesOf } from "#probe-agent/analysis/tls/ssl/suites.ts";
import type { ClientHello } from "#probe-agent/port/tls.ts";
import { eliminate, joined, type Elimination } from "#probe-agent/tools/ssl/elimination.ts";
import type { Prober } from "#probe-agent/tools/ssl/prober.ts";
import { helloFor, type VersionSeen } from "#probe-agent/tools/ssl/versions.ts";

const NO_GROUP = -1;

/** TLS 1.3: a hello without a key share makes the server name the group it wants (RFC 8446 section 4.1.4). */
export async function groupsOfTls13(prober: Prober, seen: VersionSeen): Promise<GroupsSeen> {
  const suites = suiteLanes(seen.version).common.flat();
  const hello = helloFor(seen, prober.servername, suites);
  const question = {
    ask: (groups: readonly number[]) => prober.ask({ ...hello, groups, keyShares: [] }),
    choice: ({ group }: { group: number | null }) => group ?? NO_GROUP,
  };
  const lanes = await Promise.all(TLS13_GROUPS.map((lane) => eliminate(lane, question)));
  return whole(seen.version, lanes, []);
}

/**
 * Before TLS 1.3 the curve stands in ServerKeyExchange. The list is also a limit to the server's own EC key (RFC 8422
 * section 5.1.1), so where no RSA key stands by, `ownCurve` is offered last in every hello and found by being chosen.
 */
export async function groupsOfOldVersion(
  prober: Prober,
  seen: VersionSeen,
  taken: readonly number[],
  ownCurve: number | null,
): Promise<GroupsSeen | null> {
  const ephemeral = suitesOf(taken).filter(({ kx, auth }) => kx === "ECDHE" && auth !== "PSK");
  if (ephemeral.length === 0) return null;
  const free = ephemeral.filter(({ auth }) => auth !== "ECDSA");
  const anchor = free.length > 0 ? null : ownCurve;
  const suites = (free.length > 0 ? free : ephemeral).map(({ code }) => code);
  const hello: ClientHello = helloFor(seen, prober.servername, suites);
  let anchored = false;
  const question = {
    ask: (left: readonly number[]) =>
      prober.ask({ ...hello, groups: anchor === null ? left : [...left, anchor] }, true),
    choice: ({ group }: { group: number | null }) => {
      if (group === null) return NO_GROUP;
      anchored ||= group === anchor;
      return group === anchor ? null : group;
    },
  };
  const lanes = await Promise.all(
    OLD_GROUPS.map((lane) =>
      eliminate(
        lane.filter((group) => group !== anchor),
        question,
      ),
    ),
  );
  return whole(seen.version, lanes, anchored && anchor !== null ? [anchor] : []);
}

function whole(version: Version, lanes: readonly Elimination[], more: readonly number[]): GroupsSeen {
  const { taken, complete } = joined(lanes);
  return { version, codes: [...taken, ...more], complete };
}
