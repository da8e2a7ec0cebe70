import type { FastifyRequest } from "fastify";
import { nearestName } from "#shared/text/nearest-name.ts";

/**
 * What the caller should know about a parameter or a field that it gave, as shown in `meta.warnings`: that it was ignored,
 * that its value was left out, or what comes of it.
 */
export interface Warning {
  /** Name as given, at most LONGEST_PARAMETER characters; a dotted path for fields of the body. */
  readonly parameter: string;
  readonly message: string;
  /** Known parameter with the most similar name; null if none is similar. */
  readonly did_you_mean: string | null;
}

/** Maximum number of warnings in one answer, because the caller chooses the number of parameters. */
const MOST_WARNINGS = 20;
/** Maximum length of a name in a warning, in characters. */
export const LONGEST_PARAMETER = 100;

/**
 * Returns one warning for each of the first unknown keys of an object. `path`: location of the object in a body, e.g.
 * `params`. `besides`: an object whose keys are not meant.
 */
export function warningsFor(
  given: Readonly<Record<string, unknown>>,
  known: readonly string[],
  { path = "", besides = {} }: { readonly path?: string; readonly besides?: object } = {},
): readonly Warning[] {
  const unknown: string[] = [];
  for (const name in given) {
    if (known.includes(name) || Object.hasOwn(besides, name)) continue;
    if (unknown.length === MOST_WARNINGS) break;
    unknown.push(name);
  }
  return unknown.map((name) => {
    const prefix = path === "" ? "" : `${path}.`;
    const parameter = `${prefix}${name.slice(0, LONGEST_PARAMETER)}`;
    const nearest = nearestName(name, known);
    const hint = nearest === null ? "" : ` Did you mean "${prefix}${nearest}"?`;
    return {
      parameter,
      message: `"${parameter}" is not a parameter of this call and was ignored.${hint}`,
      did_you_mean: nearest === null ? null : `${prefix}${nearest}`,
    };
  });
}

/**
 * Returns the warnings of a request: those of its result, query names that the route does not document, and the ignored
 * fields of the body. Empty before v4, which introduced `meta.warnings`.
 */
function warningsOf(request: FastifyRequest, own: readonly Warning[]): readonly Warning[] {
  if (request.apiVersion !== null && request.apiVersion !== "v4") return [];
  const { config, schema } = request.routeOptions;
  const documented = schema?.querystring as { readonly properties?: Readonly<Record<string, unknown>> } | undefined;
  const known = config?.queryNames ?? Object.keys(documented?.properties ?? {});
  const given = (request.query ?? {}) as Readonly<Record<string, unknown>>;
  return [...own, ...warningsFor(given, known), ...(request.ignored ?? [])].slice(0, MOST_WARNINGS);
}

/** Returns the warnings of a request, and `own` ones of its result, as a member of `meta`; {} if there are none. */
export function warningsMeta(
  request: FastifyRequest,
  own: readonly Warning[] = [],
): { readonly warnings?: readonly Warning[] } {
  const warnings = warningsOf(request, own);
  return warnings.length === 0 ? {} : { warnings };
}
