// What the page uses of its libraries; esbuild leaves everything else out of the bundle.
import { BarChart, HeatmapChart, LineChart, ScatterChart, TreeChart } from "echarts/charts";
import {
  AriaComponent,
  DataZoomComponent,
  GridComponent,
  LegendComponent,
  MarkAreaComponent,
  MarkLineComponent,
  TooltipComponent,
  VisualMapComponent,
} from "echarts/components";
import * as echarts from "echarts/core";
import { SVGRenderer } from "echarts/renderers";
import {
  EditModule,
  ExportModule,
  FilterModule,
  FormatModule,
  FrozenColumnsModule,
  InteractionModule,
  KeybindingsModule,
  PrintModule,
  ResizeColumnsModule,
  ResizeTableModule,
  SelectRangeModule,
  SortModule,
  Tabulator,
} from "tabulator-tables";

echarts.use([
  ...[BarChart, HeatmapChart, LineChart, ScatterChart, TreeChart],
  ...[AriaComponent, DataZoomComponent, GridComponent, LegendComponent, MarkAreaComponent, MarkLineComponent],
  ...[TooltipComponent, VisualMapComponent, SVGRenderer],
]);
Tabulator.registerModule([
  ...[EditModule, ExportModule, FilterModule, FormatModule],
  FrozenColumnsModule, // no column is frozen, but SelectRange reads its fields
  ...[InteractionModule, KeybindingsModule, PrintModule, ResizeColumnsModule, ResizeTableModule],
  ...[SelectRangeModule, SortModule],
]);

export { echarts, Tabulator };
