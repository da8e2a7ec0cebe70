import { Type } from "typebox";
import type { FastifyRequest } from "fastify";
import { secretChange } from "#control-plane/http/access/diff-resource.ts";
import type { DocumentPart } from "#control-plane/accounts/document-part.ts";
import { BODY_LIMIT, RawBody, readBody } from "#control-plane/http/body.ts";
import { Refusal, refuseField, requireRead } from "#control-plane/http/errors.ts";
import { readQuery, readWrite } from "#control-plane/http/params.ts";
import { callerOf } from "#control-plane/http/request.ts";
import { LONGEST_PARAMETER, type Warning } from "#control-plane/http/warnings.ts";
import type { Write } from "#control-plane/http/writes.ts";
import { requireWritten } from "#control-plane/http/written.ts";
import { changeOf } from "#control-plane/monitors/changed-fields.ts";
import type { Monitors } from "#control-plane/monitors/monitors.ts";
import { warnOfCreation } from "#control-plane/monitors/creation-warnings.ts";
import type { ImportBodies } from "#control-plane/monitors/routes/import-body.ts";
import { POST_QUERY } from "#control-plane/monitors/routes/queries.ts";
import type { Given } from "#control-plane/monitors/settings/fields.ts";
import { parseCreation } from "#control-plane/monitors/settings/parse.ts";
import type { Imported } from "#control-plane/monitors/transfer/import.ts";

/** Maximum number of values and rows that are named in the warnings of an import. */
const MOST_NAMED = 15;

/** Returns the warnings of an import: the first of what was left out, and how many there are. */
function warningsOf(leftOut: Imported["leftOut"]): readonly Warning[] {
  const named = leftOut.slice(0, MOST_NAMED).map(({ field, message }) => {
    return { parameter: field.slice(0, LONGEST_PARAMETER), message, did_you_mean: null };
  });
  if (named.length === leftOut.length) return named;
  const message = `${leftOut.length} values or rows were left out; the first ${MOST_NAMED} of them are named.`;
  return [{ parameter: "monitors", message, did_you_mean: null }, ...named];
}

/** Reads a POST; returns the write that does it. */
export async function readPost(
  {
    monitors,
    bodies,
    parts,
  }: { readonly monitors: Monitors; readonly bodies: ImportBodies; readonly parts: readonly DocumentPart[] },
  request: FastifyRequest,
): Promise<Write> {
  const { accountId } = callerOf(request);
  const { action, id, dry_run: isDryRun = false } = readQuery(POST_QUERY, request);
  if (action === "import") {
    const document = await bodies.read(request);
    return async (tx) => {
      const imported = requireWritten(await monitors.import(tx, accountId, document, { parts, isDryRun }));
      const { created, updated, unchanged, ids, paused, changes, rows, leftOut, parts: others } = imported;
      return {
        status: isDryRun ? 200 : 201,
        data: {
          created,
          updated,
          unchanged,
          ids,
          ...others,
          secrets_missing: paused,
          ...(isDryRun ? { changes: rows } : {}),
        },
        changes,
        warnings: warningsOf(leftOut),
      };
    };
  }
  requireSmall(request);
  if (action === "run") {
    readWrite(Type.Object({}), request);
    if (id === undefined) throw refuseField({ field: "id", reason: "required", message: "is required" });
    return async (tx) => ({
      status: 202,
      data: { id: requireWritten(await monitors.run(tx, { accountId, id })) },
      changes: [],
    });
  }
  if (action === "rotate" || action === "accept") {
    readWrite(Type.Object({}), request);
    if (id === undefined) throw refuseField({ field: "id", reason: "required", message: "is required" });
    return async (tx) => {
      const data = requireWritten(await monitors[action](tx, { accountId, id }));
      const change =
        action === "rotate" ? changeOf(data, "rotated", [secretChange("heartbeat_url")]) : changeOf(data, "accepted");
      return { data, changes: [change] };
    };
  }
  const given = readCreation(request);
  return async (tx) => {
    const created = requireWritten(await monitors.create(tx, accountId, given));
    const changes = [changeOf(created, "created")];
    return { status: 201, data: created, changes, warnings: warnOfCreation(created) };
  };
}

/** Refuses a body that only a document to import may have. */
function requireSmall({ body }: FastifyRequest): void {
  if (!(body instanceof RawBody) || body.bytes.length <= BODY_LIMIT) return;
  throw new Refusal("payload_too_large", `The body is larger than ${BODY_LIMIT} bytes, the limit.`);
}

/** Reads the body of a creation. */
export function readCreation(request: FastifyRequest): Given {
  return requireRead(parseCreation(readSmall(request), "current"));
}

/** Reads a body that is no document to import. */
export function readSmall(request: FastifyRequest): ReturnType<typeof readBody> {
  requireSmall(request);
  return readBody(request);
}
