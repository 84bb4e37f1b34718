// What the page uses of uPlot.

/** The values of x, then those of each series. */
type Data = (number | null | undefined)[][];

export default class uPlot {
  static join(tables: Data[]): Data;
  constructor(options: object, data: Data, into: HTMLElement);
  setData(data: Data): void;
  setSize(size: { width: number; height: number }): void;
  destroy(): void;
}
