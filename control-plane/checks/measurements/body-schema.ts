import { Type, type TSchema } from "typebox";
import { publishParams } from "#shared/schema/publish.ts";
import type { Contract } from "#shared/tools/define.ts";
import { describeDefaults } from "#control-plane/http/operations/operation-body.ts";
import { componentName } from "#control-plane/checks/tool-requests/component-name.ts";
import { CALL_PARAMS } from "#control-plane/checks/tool-requests/call-params.ts";

const SUFFIX = "Measurement";

/**
 * Returns the schema of a measurement request for one tool: its parameters under `params`, then those of every call.
 */
export function measurementSchema(contract: Contract) {
  const params = describeDefaults(publishParams(contract.params, contract.example));
  const callParams = Object.entries<TSchema>(publishParams(CALL_PARAMS).properties);
  const isRequired = (contract.params.required ?? []).length > 0;
  return {
    $id: componentName(contract, SUFFIX),
    ...Type.Object(
      {
        tool: Type.Enum([contract.name], { description: "Name of the tool, as the catalogue lists it" }),
        params: isRequired ? params : Type.Optional(params),
        ...Object.fromEntries(callParams.map(([name, schema]) => [name, Type.Optional(schema)])),
      },
      {
        title: contract.title,
        description: contract.summary,
        additionalProperties: false,
        examples: [exampleBody(contract)],
      },
    ),
  };
}

function exampleBody({ name, example }: Contract) {
  return { tool: name, params: example };
}

/** Returns the schema of the body of POST /api/v4/measurements: one schema per tool, selected by the field `tool`. */
export function measurementBody(contracts: readonly Contract[]): TSchema {
  const names = contracts.map((contract) => [contract.name, componentName(contract, SUFFIX)] as const);
  const [first] = contracts;
  return Type.Unsafe<unknown>({
    oneOf: names.map(([, component]) => Type.Ref(`${component}#`)),
    discriminator: {
      propertyName: "tool",
      mapping: Object.fromEntries(names.map(([tool, component]) => [tool, `#/components/schemas/${component}`])),
    },
    ...(first === undefined ? {} : { examples: [exampleBody(first)] }),
  });
}
