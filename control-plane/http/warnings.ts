import type { FastifyRequest } from "fastify";
import { nearestName } from "#shared/nearest-name.ts";

/** A parameter that a call gave and that had no effect, as `meta.warnings` shows it. */
export interface Warning {
  /** Its name as given, cut to 100 characters; dotted inside a body. */
  readonly parameter: string;
  readonly message: string;
  /** The nearest name that the call does take; null where none is near. */
  readonly did_you_mean: string | null;
}

/** Parameters named in one answer; their number is the caller's to choose. */
const MOST_WARNINGS = 20;
const LONGEST_NAME = 100;

/** One warning for each given name that is not among the known ones. `path`: where in a body they are, e.g. `params`. */
export function warningsFor(given: readonly string[], known: readonly string[], path = ""): readonly Warning[] {
  const unknown = given.filter((name) => !known.includes(name)).slice(0, MOST_WARNINGS);
  return unknown.map((name) => {
    const prefix = path === "" ? "" : `${path}.`;
    const parameter = `${prefix}${name.slice(0, LONGEST_NAME)}`;
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
 * What to say about a request's parameters: what its reader noted, and the query's names that the route does not
 * document. Empty for versions before 4, which have no such field.
 */
export function warningsOf(request: FastifyRequest): readonly Warning[] {
  if (request.apiVersion !== null && request.apiVersion !== "v4") return [];
  const { config, schema } = request.routeOptions;
  const documented = schema?.querystring as { readonly properties?: Readonly<Record<string, unknown>> } | undefined;
  const known = config?.queryNames ?? Object.keys(documented?.properties ?? {});
  const given = Object.keys(request.query ?? {});
  return [...warningsFor(given, known), ...(request.ignored ?? [])].slice(0, MOST_WARNINGS);
}

/** The warnings of a request as a part of `meta`: nothing where there are none. */
export function warningsMeta(request: FastifyRequest): { readonly warnings?: readonly Warning[] } {
  const warnings = warningsOf(request);
  return warnings.length === 0 ? {} : { warnings };
}
