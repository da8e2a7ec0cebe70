import { Value } from "typebox/value";
import type { TSchema } from "typebox";
import { describeBound, typeInWords, type FieldProblem, type ProblemReason } from "#shared/schema/problem.ts";

/** Describes the first problem inside a value in the API's terms; the library's messages mention schemas. `field` gets the path. */
export function problemInside(field: string, schema: TSchema, value: unknown): FieldProblem | null {
  const [first] = Value.Errors(schema, value);
  if (first === undefined) return null;
  const { keyword, instancePath, params } = first as Fault;
  const path = `${field}${instancePath.replaceAll("/", ".")}`;
  const problem = (reason: ProblemReason, message: string, name?: string): FieldProblem => ({
    field: name === undefined ? path : `${path}.${name}`,
    reason,
    message,
  });
  switch (keyword) {
    case "required":
      return problem("required", "is required", params.requiredProperties?.[0]);
    // The library's keyword for a property that `additionalProperties: false` rejects.
    case "boolean":
      return problem("unknown", "no such field");
    case "enum":
      return problem("enum", `must be one of ${(params.allowedValues ?? []).map(String).join(", ")}`);
    case "const":
      return problem("enum", `must be ${String(params.allowedValue)}`);
    case "type":
      return problem("type", `must be ${[params.type ?? []].flat().map(typeInWords).join(" or ")}`);
    default: {
      const bound = describeBound(keyword, params.limit ?? params.multipleOf ?? 0);
      return bound === null ? problem("type", "does not have the documented form") : problem("range", bound);
    }
  }
}

/** The used fields of a library error (Ajv's shape). */
interface Fault {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: {
    readonly type?: string | readonly string[];
    readonly limit?: number;
    readonly multipleOf?: number;
    readonly allowedValue?: unknown;
    readonly allowedValues?: readonly unknown[];
    readonly requiredProperties?: readonly string[];
  };
}
