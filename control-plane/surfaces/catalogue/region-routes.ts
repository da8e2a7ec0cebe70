import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { AgentInfo } from "#control-plane/checks/dispatch/hello.ts";
import type { Presence } from "#control-plane/checks/dispatch/presence.ts";
import type { Roster } from "#control-plane/checks/dispatch/roster.ts";
import type { Gate } from "#control-plane/http/gate.ts";
import { answer, callerOf } from "#control-plane/http/request.ts";
import { operation } from "#control-plane/http/operations/operation.ts";

const NULLABLE_TEXT = Type.Union([Type.String(), Type.Null()]);

/** A region, as callers see it. */
const REGION = Type.Object({
  region: Type.String({ description: "Name of the region, as used in locations" }),
  country: {
    ...NULLABLE_TEXT,
    description: "ISO 3166-1 alpha-2; null: unknown, or its probes are in several countries",
  },
  city: { ...NULLABLE_TEXT, description: "City; null: unknown, or its probes are in several cities" },
  online: Type.Integer({ description: "Number of online probes that your account can use" }),
  capabilities: Type.Array(Type.String(), { description: "Capabilities that at least one of its online probes has" }),
});

/** A region and how many probes an account can use there. */
export interface Region {
  readonly region: string;
  readonly country: string | null;
  readonly city: string | null;
  readonly online: number;
  readonly capabilities: readonly string[];
}

/** The facts about a probe that the list of regions uses. */
interface RegionMember {
  readonly agent: AgentInfo;
  /** Whether it accepts jobs of at least one replica. */
  readonly online: boolean;
  /** Account of a private probe; null: shared. */
  readonly accountId: number | null;
}

/** Returns the regions an account can use, without addresses, ids and the private probes of other accounts. */
export function listRegions(members: Iterable<RegionMember>, accountId: number): readonly Region[] {
  const visible = Array.from(members).filter((member) => member.accountId === null || member.accountId === accountId);
  return Array.from(
    Map.groupBy(visible, ({ agent }) => agent.place.region),
    ([region, there]) => {
      const online = there.filter((member) => member.online);
      const places = there.map(({ agent }) => agent.place);
      return {
        region,
        country: common(places.map((place) => place.country)),
        city: common(places.map((place) => place.city)),
        online: online.length,
        capabilities: [...new Set(online.flatMap(({ agent }) => [...agent.capabilities]))].toSorted(),
      };
    },
  ).toSorted((one, other) => (one.region < other.region ? -1 : 1));
}

function common(values: readonly (string | null)[]): string | null {
  const [first = null] = values;
  return values.every((value) => value === first) ? first : null;
}

/** Yields the probes of all replicas: attached ones from the roster, the others from presence. */
function* membersOf(roster: Roster, presence: Presence): Generator<RegionMember> {
  for (const { agent, enrolled, draining } of roster.sessions()) {
    yield { agent, accountId: enrolled.accountId, online: enrolled.enabled && !draining };
  }
  for (const { agent, accountId, enabled, draining, replicas } of presence.absent()) {
    yield { agent, accountId, online: enabled && !draining && replicas.length > 0 };
  }
}

/** Returns the regions an account can use now. */
export function regionsOf(roster: Roster, presence: Presence, accountId: number): readonly Region[] {
  return listRegions(membersOf(roster, presence), accountId);
}

/** Registers GET /api/v4/probes: the regions checks can run in. */
export function registerRegions(server: FastifyInstance, gate: Gate, roster: Roster, presence: Presence): void {
  server.route({
    ...gate.keyed({ scope: null }),
    method: "GET",
    url: "/api/v4/probes",
    schema: operation({
      id: "list_regions",
      tag: "Catalogue",
      summary: "List the regions a check can run in",
      data: Type.Object({ regions: Type.Array(REGION, { description: "By name" }) }),
    }),
    handler: (request) => {
      const regions = regionsOf(roster, presence, callerOf(request).accountId);
      return Promise.resolve(answer(request, { regions }));
    },
  });
}
