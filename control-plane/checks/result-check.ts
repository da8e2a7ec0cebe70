import { Compile, type Validator } from "typebox/compile";
import { failed, type Outcome } from "#shared/contracts/outcome.ts";
import type { Contract } from "#shared/tools/define.ts";

const validators = new WeakMap<Contract, Validator>();

/** Turns a result that does not match the contract into a failure: an agent can be old, broken or hostile. */
export function enforceContract(contract: Contract, outcome: Outcome<unknown>): Outcome<unknown> {
  if (outcome.status !== "ok") return outcome;
  let validator = validators.get(contract);
  if (validator === undefined) {
    validator = Compile(contract.result);
    validators.set(contract, validator);
  }
  if (validator.Check(outcome.data)) return outcome;
  return failed("response", "probe", "invalid_result", "the result of the probe does not match the tool's schema");
}
