// The parts of @tgwf/co2 0.19.0 used here; the package ships no types.
declare module "@tgwf/co2" {
  /** Grams of CO2 equivalent; operational shares are before green hosting. */
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
    /** 0 for less than a byte. */
    perVisit(bytes: number, green: boolean): Segments | 0;
  }
}
