import type { ErrorRenderer } from "#control-plane/http/request.ts";

/** Registered routes: methods of a path for 405 and Allow, and error renderers for unmatched paths. */
export interface RegisteredRoutes {
  /** Adds a route as registered at the router. */
  add(method: string | readonly string[], pattern: string, render?: ErrorRenderer): void;
  /** Returns the methods of the routes that match a path, sorted; [] if none matches. */
  methodsOf(path: string): readonly string[];
  /** Returns the error renderer for a path: of the route at the path, or of the nearest route above it. */
  rendererOf(path: string): ErrorRenderer | undefined;
}

// Variable parts of a pattern: `:name` up to the next slash, `*` for the rest.
const MOVING = /:[^/]+|\*/g;
const SPECIAL = /[.*+?^${}()|[\]\\]/g;

/** Maximum depth of the paths of a surface. */
const MOST_STEPS = 5;

/** Creates an empty collection of routes; it is read only for requests that match no route. */
export function createRegisteredRoutes(): RegisteredRoutes {
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

/** Removes one trailing slash, which the router ignores. */
function trim(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

function compile(pattern: string): RegExp {
  const fixedParts = pattern.split(MOVING).map((part) => part.replaceAll(SPECIAL, String.raw`\$&`));
  const movingParts = Array.from(pattern.matchAll(MOVING), ([part]) => (part === "*" ? ".*" : "[^/]+"));
  return new RegExp(`^${fixedParts.map((part, index) => part + (movingParts[index] ?? "")).join("")}$`);
}
