/** Draws the overview's charts, and again whenever the page brings new numbers. */
/* global uPlot */
const charts = [];

/** A colour of the page's style as a canvas takes it: of the theme that is shown. */
function color(name) {
  const probe = document.body.appendChild(document.createElement('i'));
  probe.style.color = `var(${name})`;
  const { color: shown } = getComputedStyle(probe);
  probe.remove();
  return shown;
}

function optionsOf(element, kind) {
  const words = JSON.parse(element.dataset.words);
  const axis = {
    stroke: color('--dim'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { stroke: color('--line') },
  };
  const line = (label, name) => ({
    label,
    stroke: color(name),
    width: 2,
    points: { show: kind === 'delay', size: 5, fill: color(name) },
  });
  const series =
    kind === 'rate'
      ? [line(words.delivered, '--good'), line(words.failed, '--bad')]
      : [line('p50', '--accent'), line('p99', '--wait')];
  return {
    width: element.clientWidth,
    height: 220,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), words.zone),
    series: [{ label: words.time, value: '{YYYY}-{MM}-{DD} {HH}:{mm}:{ss}' }, ...series],
    axes: [
      {
        ...axis,
        values: [
          [86400, '{DD}/{MM}', null, null, null, null, null, null, 1],
          [60, '{HH}:{mm}', null, null, null, null, null, null, 1],
          [1, '{HH}:{mm}:{ss}', null, null, null, null, null, null, 1],
        ],
      },
      { ...axis, size: 60, label: kind === 'rate' ? words.perMinute : 'ms', labelSize: 18 },
    ],
    scales: { y: { range: (_chart, _min, max) => [0, Math.max(1, (max ?? 0) * 1.1)] } },
  };
}

function draw() {
  for (const element of document.querySelectorAll('[data-chart]')) {
    const { chart: kind, series } = element.dataset;
    const told = JSON.parse(series);
    const data = kind === 'rate' ? [told.at, told.delivered, told.failed] : [told.at, told.p50, told.p99];
    const known = charts.find((one) => one.element === element);
    if (known) known.chart.setData(data);
    else charts.push({ element, chart: new uPlot(optionsOf(element, kind), data, element) });
  }
}

draw();
document.addEventListener('htmx:after:swap', draw);

addEventListener('resize', () => {
  for (const { element, chart } of charts) chart.setSize({ width: element.clientWidth, height: 220 });
});
