import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { AgentRow, Roster } from "#control-plane/dispatch/roster.ts";
import type { Gate } from "#control-plane/http/gate.ts";
import { answer } from "#control-plane/http/request.ts";
import { operation } from "#control-plane/http/operation.ts";

const NULLABLE_TEXT = Type.Union([Type.String(), Type.Null()]);

/** One region that a call can name. */
const REGION = Type.Object({
  region: Type.String({ description: "Name to use in locations" }),
  country: { ...NULLABLE_TEXT, description: "ISO 3166-1 alpha-2; null: not told or not the same for all its probes" },
  city: { ...NULLABLE_TEXT, description: "Null: not told or not the same for all its probes" },
  online: Type.Integer({ description: "Probes online" }),
  capabilities: Type.Array(Type.String(), { description: "What at least one of its probes can do" }),
});

interface Region {
  readonly region: string;
  readonly country: string | null;
  readonly city: string | null;
  readonly online: number;
  readonly capabilities: readonly string[];
}

/** Regions as callers see them: no addresses, no ids (decisions 6). */
export function regionsOf(rows: readonly AgentRow[]): readonly Region[] {
  const byRegion = Map.groupBy(rows, (row) => row.agent.place.region);
  return Array.from(byRegion.keys())
    .toSorted()
    .map((region) => {
      const members = byRegion.get(region) ?? [];
      const online = members.filter((row) => row.status === "online");
      const places = members.map((row) => row.agent.place);
      return {
        region,
        country: common(places.map((place) => place.country)),
        city: common(places.map((place) => place.city)),
        online: online.length,
        capabilities: [...new Set(online.flatMap((row) => [...row.agent.capabilities]))].toSorted(),
      };
    });
}

function common(values: readonly (string | null)[]): string | null {
  const [first = null] = values;
  return values.every((value) => value === first) ? first : null;
}

/** GET /api/v4/probes: where checks can run. */
export function registerRegions(server: FastifyInstance, gate: Gate, roster: Roster): void {
  server.route({
    ...gate.keyed({ scope: null }),
    method: "GET",
    url: "/api/v4/probes",
    schema: operation({
      id: "list_regions",
      tag: "Catalogue",
      summary: "The regions a check can run in",
      data: Type.Object({ regions: Type.Array(REGION, { description: "By name" }) }),
    }),
    handler: (request) => Promise.resolve(answer(request, { regions: regionsOf(roster.rows()) })),
  });
}
