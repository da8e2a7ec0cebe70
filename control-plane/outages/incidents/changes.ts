import type { FieldProblem } from "#shared/schema/problem.ts";
import { diffResource, type ChangedField } from "#control-plane/http/access/diff-resource.ts";
import { MOST_ENTRIES, type NewEntry } from "#control-plane/outages/incidents/entry.ts";
import type { Impact, Incident, Status } from "#control-plane/outages/incidents/incident.ts";
import { readTitle } from "#control-plane/outages/incidents/texts.ts";
import { readLines } from "#control-plane/core/user-text.ts";

/** A message to the users of a service. */
interface Update {
  /** Status from now on; absent: the present one. */
  readonly status?: Status;
  readonly text: string;
  /** Absent: as the incident. */
  readonly public?: boolean;
}

/** What a person changes about an incident; absent fields stay. */
export interface IncidentChange {
  readonly acknowledged?: boolean;
  readonly title?: string;
  readonly impact?: Impact;
  readonly public?: boolean;
  /** Status pages that show it besides those of its monitors, in place of those before. */
  readonly page_ids?: readonly number[];
  /** Text for the timeline, never public. */
  readonly note?: string;
  readonly update?: Update;
}

/** The changed incident with the entries that record the change, or the first refused field. */
type Changed =
  | { readonly ok: true; readonly incident: Incident; readonly entries: readonly NewEntry[] }
  | { readonly ok: false; readonly problem: FieldProblem };

/** Who changes an incident, and when. */
interface Author {
  readonly by: string;
  readonly at: Date;
}

/**
 * Applies a change to an incident.
 *
 * 1. An acknowledgement keeps its first author. `acknowledged: false` withdraws it.
 * 2. An outage is resolved by the recovery of its monitor only, so that it is never reported as over while it lasts.
 * 3. A resolved incident stays resolved; further notes and updates are possible, for example a review.
 */
export function applyChange(incident: Incident, change: IncidentChange, author: Author): Changed {
  const title = change.title === undefined ? null : readTitle(change.title);
  const note = change.note === undefined ? null : readLines("note", change.note);
  const text = change.update === undefined ? null : readLines("update.text", change.update.text);
  for (const read of [title, note, text]) if (read?.ok === false) return read;
  const problem =
    problemOfUpdate(incident, change.update) ?? problemOfPages(incident, change) ?? problemOfCount(incident, change);
  if (problem !== null) return { ok: false, problem };

  const edited: Incident = {
    ...incident,
    title: title?.ok === true ? title.value : incident.title,
    impact: change.impact ?? incident.impact,
    isPublic: change.public ?? incident.isPublic,
    pageIds: pagesAfter(incident, change),
  };
  const acknowledgement = acknowledge(incident, change.acknowledged, author);
  const status = change.update?.status ?? incident.status;
  const isResolvedNow = status === "resolved" && incident.resolvedAt === null;
  const changed: Incident = {
    ...edited,
    acknowledged: acknowledgement.acknowledged,
    status,
    resolvedAt: isResolvedNow ? notBefore(author.at, incident.confirmedAt) : incident.resolvedAt,
  };
  const entries = [
    ...acknowledgement.entries,
    ...describeEdits(incident, edited).map((edit) => personal("edited", edit, author)),
    ...(note?.ok === true ? [personal("note", note.value, author)] : []),
    ...(text?.ok === true
      ? [
          {
            ...personal("update", text.value, author),
            status,
            isPublic: change.update?.public ?? edited.isPublic,
          },
        ]
      : []),
  ];
  return { ok: true, incident: { ...changed, entryCount: incident.entryCount + entries.length }, entries };
}

/** Returns the fields that a change has changed, for the log of changes. A note and an update have nothing before them. */
export function changedFields(before: Incident, after: Incident, change: IncidentChange): readonly ChangedField[] {
  const { note = null, update = null } = change;
  return diffResource(writable(before), { ...writable(after), note, update }, []);
}

function writable({
  title,
  impact,
  status,
  isPublic,
  pageIds,
  acknowledged,
}: Incident): Readonly<Record<string, unknown>> {
  return { title, impact, status, public: isPublic, page_ids: pageIds, acknowledged: acknowledged !== null };
}

function problemOfUpdate({ monitor, resolvedAt }: Incident, update: Update | undefined): FieldProblem | null {
  const status = update?.status;
  const field = "update.status";
  if (status === "resolved" && resolvedAt === null && monitor !== null) {
    const message = "cannot be resolved while the monitor is down; it is resolved when the monitor recovers";
    return { field, reason: "enum", message };
  }
  if (status !== undefined && status !== "resolved" && resolvedAt !== null) {
    return { field, reason: "enum", message: "must be resolved: this incident has ended; open a new one" };
  }
  return null;
}

function problemOfPages({ monitorIds }: Incident, { page_ids: pageIds }: IncidentChange): FieldProblem | null {
  if (pageIds === undefined || pageIds.length + monitorIds.length > 0) return null;
  return { field: "page_ids", reason: "required", message: "is required: the incident names no monitor" };
}

/** Returns the pages that an incident names after a change; the same list if they are the same ones. */
function pagesAfter({ pageIds }: Incident, { page_ids: given }: IncidentChange): readonly number[] {
  const wanted = new Set(given ?? pageIds);
  const isSame = wanted.size === pageIds.length && pageIds.every((id) => wanted.has(id));
  return isSame ? pageIds : [...wanted];
}

function problemOfCount({ entryCount }: Incident, { note, update }: IncidentChange): FieldProblem | null {
  if (entryCount < MOST_ENTRIES || (note === undefined && update === undefined)) return null;
  const field = note === undefined ? "update" : "note";
  return { field, reason: "range", message: `cannot be added: an incident has at most ${MOST_ENTRIES} entries` };
}

function acknowledge(
  { acknowledged }: Incident,
  wanted: boolean | undefined,
  author: Author,
): { readonly acknowledged: Incident["acknowledged"]; readonly entries: readonly NewEntry[] } {
  const isUnchanged = wanted === undefined || wanted === (acknowledged !== null);
  if (isUnchanged) return { acknowledged, entries: [] };
  if (!wanted) {
    return { acknowledged: null, entries: [personal("unacknowledged", "Acknowledgement withdrawn", author)] };
  }
  return {
    acknowledged: { at: author.at, by: author.by },
    entries: [personal("acknowledged", "Acknowledged", author)],
  };
}

function describeEdits(before: Incident, after: Incident): readonly string[] {
  return [
    ...(before.title === after.title ? [] : [`Title changed from "${before.title}"`]),
    ...(before.impact === after.impact ? [] : [`Impact changed from ${before.impact} to ${after.impact}`]),
    ...(before.isPublic === after.isPublic ? [] : [after.isPublic ? "Made public" : "Made private"]),
    ...(before.pageIds === after.pageIds ? [] : ["Status pages changed"]),
  ];
}

function personal(kind: NewEntry["kind"], text: string, { by, at }: Author): NewEntry {
  return { at, kind, by, text, status: null, isPublic: false };
}

function notBefore(at: Date, earliest: Date): Date {
  return at < earliest ? earliest : at;
}
