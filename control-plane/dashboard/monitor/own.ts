import type { FastifyRequest } from "fastify";
import { absentMessage, Refusal } from "#control-plane/http/errors.ts";

/** A route below /app/monitors/:id. */
export type WithId = { Params: { id: string } };

/** Returns the id of a monitor in the path. Throws the 404 for what is no id. */
export function idOf({ params }: FastifyRequest<WithId>): number {
  if (!/^[1-9]\d{0,14}$/.test(params.id)) throw new Refusal("not_found", absentMessage("monitor"));
  return Number(params.id);
}
