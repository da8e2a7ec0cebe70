import type { TProperties, TSchema } from "typebox";
import type { FastifyRequest } from "fastify";

/** A further read of one thing of an account: GET of its address with ?id=&action=<name>. */
export interface ReadAction {
  readonly name: string;
  /** Fields of the query besides id and action. */
  readonly query: TProperties;
  /** Schema of `data`, or the media type of the file that it answers. */
  readonly data: TSchema | string;
  /** Returns the data of the answer; a file is sent instead of an envelope. The account has the thing. Throws Refusal. */
  run(request: FastifyRequest, of: { readonly accountId: number; readonly id: number }): Promise<unknown>;
}
