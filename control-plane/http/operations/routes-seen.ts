import type { ErrorRenderer } from "#control-plane/http/request.ts";

/** Which methods a path answers to, for 405 and its Allow field, and how errors are written where none does. */
export interface RoutesSeen {
  /** Notes a route as the router was told it. */
  add(method: string | readonly string[], pattern: string, render?: ErrorRenderer): void;
  /** The methods of the routes that match a path, sorted; [] where none does. */
  methodsOf(path: string): readonly string[];
  /** How the surface writes errors that a path belongs to: that of the route at it, or of the nearest one above it. */
  rendererOf(path: string): ErrorRenderer | undefined;
}

// A pattern's moving parts: `:name` up to the next slash, `*` for the rest.
const MOVING = /:[^/]+|\*/g;
const SPECIAL = /[.*+?^${}()|[\]\\]/g;

/** No surface has its paths deeper than this. */
const MOST_STEPS = 5;

/** Collects routes as they are registered; looked at only for requests that match none. */
export function createRoutesSeen(): RoutesSeen {
  const fixed = new Map<string, Set<string>>();
  const renderers = new Map<string, ErrorRenderer>();
  const moving = new Map<string, { readonly matches: RegExp; readonly methods: Set<string> }>();

  function methodsFor(pattern: string): Set<string> {
    if (pattern.search(MOVING) < 0) {
      const known = fixed.get(pattern) ?? new Set<string>();
      fixed.set(pattern, known);
      return known;
    }
    const known = moving.get(pattern) ?? { matches: compile(pattern), methods: new Set<string>() };
    moving.set(pattern, known);
    return known.methods;
  }

  return {
    add(method, pattern, render) {
      if (render !== undefined) renderers.set(trim(pattern), render);
      const methods = methodsFor(trim(pattern));
      for (const name of typeof method === "string" ? [method] : method) methods.add(name);
    },
    methodsOf(path) {
      const trimmed = trim(path);
      const found = new Set(fixed.get(trimmed));
      for (const { matches, methods } of moving.values()) {
        if (matches.test(trimmed)) for (const name of methods) found.add(name);
      }
      return [...found].toSorted();
    },
    rendererOf(path) {
      let above = trim(path);
      for (let steps = 0; steps < MOST_STEPS && above !== ""; steps += 1) {
        const render = renderers.get(above);
        if (render !== undefined) return render;
        above = above.slice(0, Math.max(0, above.lastIndexOf("/")));
      }
      return undefined;
    },
  };
}

/** The router ignores one trailing slash. */
function trim(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

function compile(pattern: string): RegExp {
  const fixedParts = pattern.split(MOVING).map((part) => part.replaceAll(SPECIAL, String.raw`\$&`));
  const movingParts = Array.from(pattern.matchAll(MOVING), ([part]) => (part === "*" ? ".*" : "[^/]+"));
  return new RegExp(`^${fixedParts.map((part, index) => part + (movingParts[index] ?? "")).join("")}$`);
}
