// Types of the parts of @tgwf/co2 0.19.0 that Vantage uses. The package has no types.
declare module "@tgwf/co2" {
  /** Emissions in grams of CO2 equivalent. Operational shares do not take green hosting into account. */
  export interface Segments {
    readonly dataCenterOperationalCO2e: number;
    readonly networkOperationalCO2e: number;
    readonly consumerDeviceOperationalCO2e: number;
    readonly dataCenterEmbodiedCO2e: number;
    readonly networkEmbodiedCO2e: number;
    readonly consumerDeviceEmbodiedCO2e: number;
    readonly total: number;
    readonly rating: string;
  }
  /** An estimation model. */
  export class co2 {
    constructor(options: { model: "swd"; version: 4; results: "segment"; rating: true });
    /** Estimates the emissions of one visit. Returns 0 for less than a byte. */
    perVisit(bytes: number, green: boolean): Segments | 0;
  }
}
