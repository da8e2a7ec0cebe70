import { Type, type TObject, type TSchema } from "typebox";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Flag } from "#shared/tools/fields.ts";
import type { Transaction } from "#control-plane/core/database/connect.ts";
import type { ErrorCode } from "#control-plane/http/errors.ts";
import type { Gate } from "#control-plane/http/gate.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { DELETED, IdField, IdQuery, readId, readQuery, readWrite } from "#control-plane/http/params.ts";
import { callerOf } from "#control-plane/http/request.ts";
import type { Fields, GivenOf, Resource } from "#control-plane/http/resource.ts";
import type { LoggedResult, Writes } from "#control-plane/http/writes.ts";

/** What the routes of writes need. */
export interface WriteRoutes {
  readonly gate: Gate;
  readonly writes: Writes;
}

/** What the API document says of an operation. */
interface Described {
  readonly summary: string;
  readonly description?: string;
  readonly errors: readonly ErrorCode[];
}

/** Answer of a write that is only tried. */
const TRIED = Type.Object({
  changed: Type.Array(Type.String(), {
    description:
      "Fields that would get another value: their names, and headers. or format_options. and the name of the value",
  }),
});

const CHANGE_QUERY = Type.Object({
  id: IdField,
  dry_run: Type.Optional(
    Flag({ description: "1 checks the change, answers the fields that would get another value, and changes nothing" }),
  ),
});

/** What POST does with a query in place of a creation. */
interface Actions {
  readonly query: TObject;
  readonly answers: readonly TSchema[];
  /** Performs the action of the query; null if it has none. Throws Refusal. */
  perform(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> | null;
}

/** Registers POST of a noun: a creation. `write` throws Refusal; `attempt`, for `dry_run`, checks and changes nothing. */
export function registerCreation<F extends Fields>(
  server: FastifyInstance,
  { gate, writes }: WriteRoutes,
  resource: Resource<F>,
  {
    write,
    attempt,
    actions,
    ...described
  }: Described & {
    readonly write: (tx: Transaction, accountId: number, given: GivenOf<Resource<F>>) => Promise<LoggedResult>;
    readonly attempt?: (tx: Transaction, accountId: number, given: GivenOf<Resource<F>>) => Promise<LoggedResult>;
    readonly actions?: Actions;
  },
): void {
  const answers = [...(actions?.answers ?? []), ...(attempt === undefined ? [] : [TRIED])];
  server.route({
    ...gate.keyed({ scope: resource.scope }),
    method: "POST",
    url: resource.path,
    schema: operation({
      ...described,
      id: `create_${resource.name}`,
      tag: resource.tag,
      status: 201,
      data: resource.answer,
      ...(answers.length === 0
        ? {}
        : { otherwise: [{ status: 200, data: Type.Union([resource.answer, ...answers]) }] as const }),
      ...(actions === undefined ? {} : { query: actions.query }),
      body: resource.create,
      isWrite: true,
    }),
    handler: (request, reply) => {
      const performed = actions?.perform(request, reply) ?? null;
      if (performed !== null) return performed;
      const { accountId } = callerOf(request);
      const run = attempt !== undefined && isTried(request) ? attempt : write;
      const given = readWrite(resource.create, request, resource.ignoredInCreation);
      return writes.run(request, reply, async (tx) => run(tx, accountId, given));
    },
  });
}

/** Registers PUT of a noun: a change of one. `write` and `attempt` as above. */
export function registerChange<F extends Fields>(
  server: FastifyInstance,
  { gate, writes }: WriteRoutes,
  resource: Resource<F>,
  {
    write,
    attempt,
    ...described
  }: Described & {
    readonly write: (tx: Transaction, own: ResourceId, given: GivenOf<Resource<F>>) => Promise<LoggedResult>;
    readonly attempt?: (tx: Transaction, own: ResourceId, given: GivenOf<Resource<F>>) => Promise<LoggedResult>;
  },
): void {
  server.route({
    ...gate.keyed({ scope: resource.scope }),
    method: "PUT",
    url: resource.path,
    schema: operation({
      ...described,
      id: `update_${resource.name}`,
      tag: resource.tag,
      data: attempt === undefined ? resource.answer : Type.Union([resource.answer, TRIED]),
      query: attempt === undefined ? IdQuery : CHANGE_QUERY,
      body: resource.change,
      isWrite: true,
    }),
    handler: (request, reply) => {
      const own = { accountId: callerOf(request).accountId, id: readId(request) };
      const run = attempt !== undefined && isTried(request) ? attempt : write;
      const given = readWrite(resource.change, request, resource.readOnly);
      return writes.run(request, reply, async (tx) => run(tx, own, given));
    },
  });
}

/** Registers DELETE of a noun. `remove` throws Refusal, and returns what one that is deleted was called. */
export function registerRemoval(
  server: FastifyInstance,
  { gate, writes }: WriteRoutes,
  { name, path, tag, scope }: Pick<Resource, "name" | "path" | "tag" | "scope">,
  {
    remove,
    ...described
  }: Omit<Described, "errors"> & { readonly remove: (tx: Transaction, own: ResourceId) => Promise<string | null> },
): void {
  server.route({
    ...gate.keyed({ scope }),
    method: "DELETE",
    url: path,
    schema: operation({
      ...described,
      id: `delete_${name}`,
      tag,
      data: DELETED,
      query: IdQuery,
      errors: ["missing_parameter", "not_found"],
      isWrite: true,
    }),
    handler: (request, reply) => {
      const own = { accountId: callerOf(request).accountId, id: readId(request) };
      return writes.run(request, reply, async (tx) => {
        const removed = await remove(tx, own);
        const change = { resource: name, id: own.id, name: removed, action: "deleted" } as const;
        return { data: { id: own.id, deleted: true }, changes: [change] };
      });
    },
  });
}

/** One of an account. */
export interface ResourceId {
  readonly accountId: number;
  readonly id: number;
}

function isTried(request: FastifyRequest): boolean {
  return readQuery(Type.Pick(CHANGE_QUERY, ["dry_run"]), request).dry_run === true;
}
