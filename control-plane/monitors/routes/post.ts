import { Type } from "typebox";
import type { FastifyRequest } from "fastify";
import type { Change } from "#control-plane/access/changes.ts";
import type { DocumentPart } from "#control-plane/document-part.ts";
import { BODY_LIMIT, RawBody, readBody } from "#control-plane/http/body.ts";
import { Refusal, refuseField, requireRead } from "#control-plane/http/errors.ts";
import { readQuery, readWrite } from "#control-plane/http/params.ts";
import { callerOf } from "#control-plane/http/request.ts";
import { LONGEST_PARAMETER, type Warning } from "#control-plane/http/warnings.ts";
import type { Write } from "#control-plane/http/writes.ts";
import { requireWritten } from "#control-plane/http/written.ts";
import type { Monitors } from "#control-plane/monitors/monitors.ts";
import type { ImportBodies } from "#control-plane/monitors/routes/import-body.ts";
import { POST_QUERY } from "#control-plane/monitors/routes/queries.ts";
import { parseCreation } from "#control-plane/monitors/settings/parse.ts";
import type { Imported } from "#control-plane/monitors/transfer/import.ts";
import { literalFamily } from "#shared/egress/addresses.ts";
import { kindOf } from "#control-plane/kinds/kinds.ts";

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
      const { created, updated, unchanged, ids, paused, changes, leftOut, parts: others } = imported;
      return {
        status: isDryRun ? 200 : 201,
        data: { created, updated, unchanged, ids, ...others, secrets_missing: paused },
        changes,
        warnings: warningsOf(leftOut),
      };
    };
  }
  if (request.body instanceof RawBody && request.body.bytes.length > BODY_LIMIT) {
    throw new Refusal("payload_too_large", `The body is larger than ${BODY_LIMIT} bytes, the limit.`);
  }
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
    return async (tx) => ({
      data: requireWritten(await monitors[action](tx, { accountId, id })),
      changes: [changeOf(id, action === "rotate" ? "rotated" : "accepted")],
    });
  }
  const given = requireRead(parseCreation(readBody(request), "current"));
  return async (tx) => {
    const created = requireWritten(await monitors.create(tx, accountId, given));
    const changes = [changeOf(created.id, "created")];
    return { status: 201, data: created, changes, warnings: warnOfPlainHttp(created) };
  };
}

const PLAIN_HTTP =
  "The certificate is watched only where the url begins with https://. If this one redirects to https, use that address, " +
  "or add a monitor of check_type ssl.";

/** Warns of an http URL of a website, which commonly redirects to https: nobody watches its certificate then. */
function warnOfPlainHttp({
  url,
  check_type: type,
}: {
  readonly url: string;
  readonly check_type: string;
}): readonly Warning[] {
  const parsed = kindOf(type).target?.port === "url" ? URL.parse(url) : null;
  if (parsed === null || parsed.protocol !== "http:" || parsed.port !== "") return [];
  const isName = literalFamily(parsed.hostname.replaceAll(/[[\]]/g, "")) === null && parsed.hostname.includes(".");
  return isName ? [{ parameter: "url", message: PLAIN_HTTP, did_you_mean: null }] : [];
}

/** Returns a change of a monitor for the log of changes. */
export function changeOf(id: number, action: Change["action"]): Change {
  return { resource: "monitor", id, action };
}
