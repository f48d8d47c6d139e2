/* The page's own script: the colour toggle, open details in print, and the
   charts. A chart is JSON in a script element (see chart.go); nothing in it is
   code. Colours are CSS variables, so light, dark and print need no redraw. */
(function () {
  'use strict';
  var root = document.documentElement;
  var toggle = document.getElementById('th');
  var darkMedia = matchMedia('(prefers-color-scheme: dark)');
  function dark() { return root.dataset.theme ? root.dataset.theme === 'dark' : darkMedia.matches; }
  function label() {
    toggle.textContent = dark() ? 'Light' : 'Dark';
    toggle.setAttribute('aria-label', 'Switch to ' + (dark() ? 'light' : 'dark') + ' colours');
  }
  toggle.hidden = false;
  label();
  darkMedia.addEventListener('change', label);
  toggle.onclick = function () { root.dataset.theme = dark() ? 'light' : 'dark'; label(); };
  addEventListener('beforeprint', function () {
    document.querySelectorAll('details').forEach(function (d) { d.open = true; });
  });

  if (!window.echarts) return;
  var FONT = getComputedStyle(document.body).fontFamily;
  var NARROW = 560;

  /* The marks. Each takes rows of numbers:
     dot  [x, y, dx, dy]           seg  [x1, y1, x2, y2, dy1, dy2, ends without a cap]
     text [x, y, dx, dy]           box  [x1, y1, x2, y2, dy1, dy2]
     x and y are coordinates of the panel, dx and dy pixels. */
  function point(m, api, x, y) {
    var p = m.absx && m.absy ? [x, y] : api.coord([m.absx ? 0 : x, m.absy ? 0 : y]);
    if (m.absx) p[0] = x < 0 ? api.getWidth() + x : x;
    if (m.absy) p[1] = y;
    return p;
  }
  function colour(m, i) { return m.colors ? m.colors[i] : m.color; }
  function glyph(shape, x, y, r, c, opacity) {
    var fill = { fill: c, opacity: opacity };
    switch (shape) {
      case 'square':
        return { type: 'rect', shape: { x: x - r * 0.9, y: y - r * 0.9, width: r * 1.8, height: r * 1.8 }, style: fill };
      case 'diamond':
        return poly([[x, y - r * 1.25], [x + r * 1.25, y], [x, y + r * 1.25], [x - r * 1.25, y]], fill);
      case 'triangle':
        return poly([[x, y - r * 1.2], [x + r * 1.2, y + r], [x - r * 1.2, y + r]], fill);
      case 'open':
        return { type: 'rect', shape: { x: x - r, y: y - r, width: 2 * r, height: 2 * r }, style: { fill: 'var(--bg)', stroke: c, lineWidth: 1.8 } };
      case 'void':
        return { type: 'group', children: [
          { type: 'circle', shape: { cx: x, cy: y, r: r }, style: { fill: 'var(--bg)', stroke: c, lineWidth: 1.3, lineDash: [2.2, 1.6] } },
          cross(x, y, r * 0.45, c)] };
      case 'cross':
        return cross(x, y, r, c);
      default:
        return { type: 'circle', shape: { cx: x, cy: y, r: r }, style: fill };
    }
  }
  function poly(points, style) { return { type: 'polygon', shape: { points: points }, style: style }; }
  function line(x1, y1, x2, y2, style) { return { type: 'line', shape: { x1: x1, y1: y1, x2: x2, y2: y2 }, style: style }; }
  function cross(x, y, r, c) {
    var s = { stroke: c, lineWidth: 1.3 };
    return { type: 'group', children: [line(x - r, y - r, x + r, y + r, s), line(x - r, y + r, x + r, y - r, s)] };
  }
  function text(m, i, x, y) {
    return { type: 'text', silent: true, style: {
      text: m.texts[i], x: x, y: y, fill: colour(m, i), textAlign: m.align || 'left', textVerticalAlign: 'middle',
      fontSize: m.small ? 11 : 12, fontWeight: m.bold ? 650 : 400, fontFamily: FONT, lineHeight: 15 } };
  }
  var draw = {
    dot: function (m, api, i) {
      var p = point(m, api, api.value(0, i), api.value(1, i));
      var x = p[0] + (api.value(2, i) || 0), y = p[1] + (api.value(3, i) || 0);
      var g = glyph(m.shape, x, y, m.size || 3, colour(m, i), m.opacity || 1);
      if (!m.tips) { g.silent = true; return g; }
      return { type: 'group', children: [g, { type: 'circle', shape: { cx: x, cy: y, r: Math.max(7, m.size || 3) }, style: { fill: 'transparent' } }] };
    },
    seg: function (m, api, i, params) {
      var a = point(m, api, api.value(0, i), api.value(1, i)), b = point(m, api, api.value(2, i), api.value(3, i));
      var y1 = a[1] + (api.value(4, i) || 0), y2 = b[1] + (api.value(5, i) || 0);
      if (m.full === 'y') { y1 = params.coordSys.y; y2 = y1 + params.coordSys.height; }
      var s = { stroke: colour(m, i), lineWidth: m.width || 1.3, opacity: m.opacity || 1 };
      if (m.dash) s.lineDash = [2, 3];
      var out = [line(a[0], y1, b[0], y2, s)];
      if (m.caps) {
        var v = a[0] === b[0], c = m.caps;
        var bare = api.value(6, i) || 0; // 1: no cap at the first end, 2: none at the second
        if (!(bare & 1)) out.push(v ? line(a[0] - c, y1, a[0] + c, y1, s) : line(a[0], y1 - c, a[0], y1 + c, s));
        if (!(bare & 2)) out.push(v ? line(b[0] - c, y2, b[0] + c, y2, s) : line(b[0], y2 - c, b[0], y2 + c, s));
      }
      return { type: 'group', silent: !m.tips, children: out };
    },
    box: function (m, api, i, params) {
      var a = point(m, api, api.value(0, i), api.value(1, i)), b = point(m, api, api.value(2, i), api.value(3, i));
      var y1 = a[1] + (api.value(4, i) || 0), y2 = b[1] + (api.value(5, i) || 0);
      if (m.full === 'y') { y1 = params.coordSys.y; y2 = y1 + params.coordSys.height; }
      return { type: 'rect', silent: !m.tips, style: { fill: colour(m, i), opacity: m.opacity || 1 },
        shape: { x: Math.min(a[0], b[0]), y: Math.min(y1, y2), width: Math.abs(b[0] - a[0]), height: Math.abs(y2 - y1) } };
    },
    text: function (m, api, i, params) {
      var n = m.texts.length, rows = [];
      for (var k = 0; k < n; k++) {
        var p = point(m, api, api.value(0, k), api.value(1, k));
        rows.push({ k: k, x: p[0] + (api.value(2, k) || 0), y: p[1] + (api.value(3, k) || 0) });
      }
      if (m.spread) apart(rows, m.spread);
      return text(m, i, rows[i].x, rows[i].y);
    },
    flow: function (m, api) {
      var p = point(m, api, api.value(0, 0), api.value(1, 0)), x = p[0];
      return { type: 'group', silent: true, children: m.texts.map(function (t, k) {
        var bold = m.colors[k] !== 'var(--mut)';
        measure.font = (bold ? '650 ' : '') + '12px ' + FONT;
        var one = text({ texts: [t], color: m.colors[k], bold: bold }, 0, x, p[1]);
        x += measure.measureText(t).width;
        return one;
      }) };
    }
  };
  var measure = document.createElement('canvas').getContext('2d');
  /* apart moves rows that are closer than gap, keeping their order and centre. */
  function apart(rows, gap) {
    var order = rows.slice().sort(function (a, b) { return a.y - b.y || a.k - b.k; });
    for (var pass = 0; pass < 50; pass++) {
      var moved = false;
      for (var i = 1; i < order.length; i++) {
        var d = gap - (order[i].y - order[i - 1].y);
        if (d > 0.01) { order[i].y += d / 2; order[i - 1].y -= d / 2; moved = true; }
      }
      if (!moved) return;
    }
  }

  function axisStyle(a, t, x) {
    t = { at: t.at || [], labels: t.labels || [], line: t.line, grid: t.grid, mark: t.mark, inset: t.inset };
    a.axisLine = { show: !!t.line, onZero: false, lineStyle: { color: 'var(--mut)', width: 1 } };
    a.axisTick = { show: !!t.mark, length: 5, lineStyle: { color: 'var(--mut)', width: 1 }, customValues: t.at };
    a.splitLine = { show: !!t.grid, lineStyle: { color: 'var(--grid)', width: 1 } };
    a.minorTick = { show: false };
    a.axisLabel = { show: t.labels.length > 0, customValues: t.at, color: 'var(--mut)', fontSize: 12, fontFamily: FONT, margin: x ? 12 : 8, hideOverlap: false,
      formatter: function (v) {
        var best = 0;
        t.at.forEach(function (at, i) { if (Math.abs(at - v) < Math.abs(t.at[best] - v)) best = i; });
        return t.labels[best];
      } };
    if (t.inset) { a.axisLabel.alignMinLabel = 'left'; a.axisLabel.alignMaxLabel = 'right'; }
    a.axisPointer = { show: false, triggerTooltip: false };
  }

  function tip(lines) {
    var box = document.createElement('div');
    box.className = 'tip';
    lines.forEach(function (l) {
      var row = document.createElement('div');
      row.textContent = l;
      box.appendChild(row);
    });
    return box;
  }
  function figures(v) {
    var a = Math.abs(v);
    return v.toLocaleString('en', a >= 1000 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 });
  }

  function build(s) {
    var o = s.option;
    o.xAxis.forEach(function (a, i) { axisStyle(a, s.x[i], true); });
    o.yAxis.forEach(function (a, i) { axisStyle(a, s.y[i], false); });
    o.series.forEach(function (d, i) {
      var m = s.marks[i];
      d.silent = !m.tips;
      d.z = m.under ? -1 : i + 2;
      if (m.kind === 'line') {
        d.symbol = 'none';
        d.silent = true;
        d.lineStyle.cap = d.lineStyle.join = 'round';
        if (m.dash === 'dotted') d.lineStyle.type = [1, 4];
        if (m.opacity) d.lineStyle.opacity = m.opacity;
        d.emphasis = { disabled: true };
        return;
      }
      d.emphasis = { disabled: true };
      d.renderItem = function (params, api) { return draw[m.kind](m, api, params.dataIndexInside, params); };
    });
    o.textStyle = { fontFamily: FONT, fontSize: 12, color: 'var(--ink)' };
    o.backgroundColor = 'transparent';
    o.tooltip = { show: true, trigger: s.cursor ? 'axis' : 'item', confine: true, transitionDuration: 0, className: 'tipbox', borderWidth: 0, padding: 0,
      backgroundColor: 'transparent', extraCssText: 'box-shadow:none', formatter: s.cursor ? cursorTip(s) : function (p) { return tip([s.marks[p.seriesIndex].tips[p.dataIndex]]); } };
    if (s.cursor) {
      o.axisPointer = { link: [{ xAxisIndex: 'all' }], label: { show: false } };
      o.xAxis.forEach(function (a) { a.axisPointer = { show: true, type: 'line', snap: false, triggerTooltip: true, label: { show: false }, lineStyle: { color: 'var(--mut)', width: 1, type: 'solid' } }; });
    }
    return o;
  }
  function cursorTip(s) {
    return function (list) {
      list = Array.isArray(list) ? list : [list];
      var at = null, lines = [], seen = {};
      list.forEach(function (p) {
        var m = s.marks[p.seriesIndex];
        if (m.kind !== 'line' || !m.name || !p.value || p.value[1] == null || seen[p.seriesIndex]) return;
        seen[p.seriesIndex] = true;
        if (at === null) at = p.value[0];
        lines.push(m.name + ' ' + figures(m.log ? Math.pow(10, p.value[1]) : p.value[1]) + (m.unit ? '\u00a0' + m.unit : ''));
      });
      return at === null ? '' : tip([figures(at) + '\u00a0s'].concat(lines));
    };
  }

  /* Arrow keys walk through the values of a chart that has the focus. */
  function keys(el, state) {
    var at = -1;
    el.addEventListener('keydown', function (e) {
      var step = e.key === 'ArrowRight' ? 1 : e.key === 'ArrowLeft' ? -1 : 0;
      if (e.key === 'Escape') state.chart.dispatchAction({ type: 'hideTip' });
      if (!step) return;
      var all = [];
      state.spec.marks.some(function (m, i) {
        if (m.tips) m.tips.forEach(function (_, k) { all.push([i, k]); });
        // Under a time cursor one line gives the moments; all panels answer.
        if (!state.spec.cursor || m.kind !== 'line' || !m.name) return false;
        state.spec.option.series[i].data.forEach(function (d, k) { if (d[1] != null) all.push([i, k]); });
        return true;
      });
      if (!all.length) return;
      e.preventDefault();
      at = (at + step + all.length) % all.length;
      state.chart.dispatchAction({ type: 'showTip', seriesIndex: all[at][0], dataIndex: all[at][1] });
    });
    el.addEventListener('blur', function () { state.chart.dispatchAction({ type: 'hideTip' }); });
  }

  function start(el) {
    var source = document.getElementById(el.dataset.chart);
    var state = {};
    function render() {
      var width = el.clientWidth;
      if (!width) return;
      var narrow = width < (Number(el.dataset.narrow) || NARROW);
      if (!state.chart || state.narrow !== narrow) {
        if (state.chart) state.chart.dispose();
        var data = JSON.parse(source.textContent);
        state.narrow = narrow;
        state.spec = narrow ? data.narrow : data.wide;
        if (narrow) state.spec.option.series.forEach(function (d, i) { if (d.data === 'wide') d.data = data.wide.option.series[i].data; });
        el.style.height = state.spec.h + 'px';
        state.chart = echarts.init(el, null, { renderer: 'svg', width: width, height: state.spec.h });
        if (state.spec.group) { state.chart.group = state.spec.group; echarts.connect(state.spec.group); }
        state.chart.setOption(build(state.spec));
      } else {
        state.chart.resize({ width: width, height: state.spec.h });
      }
      state.width = width;
    }
    render();
    el.tabIndex = 0;
    keys(el, state);
    new ResizeObserver(function () { if (el.clientWidth !== state.width) render(); }).observe(el);
  }
  document.querySelectorAll('[data-chart]').forEach(start);
})();
