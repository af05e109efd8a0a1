"use strict";
(() => {
  const report = JSON.parse(document.getElementById("data").textContent);
  const tasks = report.tasks;
  const byId = (id) => document.getElementById(id);
  const CLASSES = ["tree", "atomic", "hybrid"];
  const SHAPES = { tree: "circle", atomic: "triangle", hybrid: "rectRot" };
  const SIZES = ["rx", "px", "vec", "acc", "items", "rows", "serial", "split", "walk", "prefetch"];
  const FIRST_ROWS = 40;
  let task = tasks[0], charts = [], order = { key: "seconds", up: true }, all = false;

  // Numbers for people.
  const digits = (x) => (x >= 99.95 ? x.toFixed(0) : x >= 9.995 ? x.toFixed(1) : x.toFixed(2));
  const withUnit = (x, units) => {
    let chosen = units[0];
    for (const unit of units) if (x >= unit[0] * 0.9995) chosen = unit;
    return digits(x / chosen[0]) + " " + chosen[1];
  };
  const time = (s) => withUnit(s, [[1e-9, "ns"], [1e-6, "µs"], [1e-3, "ms"], [1, "s"]]);
  const bytes = (b) => withUnit(b, [[1, "B"], [1e3, "kB"], [1e6, "MB"], [1e9, "GB"]]);
  const count = (n) => n.toLocaleString("en");
  const rate = (t, trial) => t.bytes / trial.seconds;
  const timed = (t) => t.trials.filter((trial) => trial.outcome === "timed");
  const bestOf = (trials) => trials.reduce((a, b) => (a === null || b.seconds < a.seconds ? b : a), null);
  const median = (values) => {
    const sorted = [...values].sort((a, b) => a - b), half = sorted.length >> 1;
    return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  };
  const fieldsOf = (trial) => {
    if (!trial.fields) {
      trial.fields = Object.fromEntries(trial.schedule.split(" ").map((word) => word.split("=")));
    }
    return trial.fields;
  };
  const element = (name, text, className) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  };

  // Colours come from the style sheet, so that charts follow light and dark.
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  const faint = (hex, alpha) => hex + Math.round(alpha * 255).toString(16).padStart(2, "0");
  const axis = (title, more) => ({
    title: { display: Boolean(title), text: title, color: colour("quiet"), font: { size: 12 } },
    ticks: { color: colour("quiet"), maxRotation: 0, autoSkipPadding: 14, ...(more && more.ticks) },
    // Lines where there is a label; a logarithmic axis has many more ticks.
    grid: { color: (at) => (at.tick && at.tick.label === "" ? "transparent" : faint(colour("line"), 0.8)), drawBorder: false },
    ...more, ...(more && more.ticks ? { ticks: { color: colour("quiet"), maxRotation: 0, autoSkipPadding: 14, ...more.ticks } } : {}),
  });
  // Ticks of a logarithmic axis: 1, 2 and 5 of each decade, fewer where there are many decades.
  const logTicks = (format) => ({
    autoSkip: false,
    callback(value) {
      const lead = Number(value.toExponential().split("e")[0]);
      const decades = Math.log10(this.max / this.min);
      const shown = decades > 2.6 ? [1] : decades > 1.2 ? [1, 3] : decades > 0.5 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9];
      return shown.some((n) => Math.abs(lead - n) < 1e-6) ? format(value) : "";
    },
  });
  // Of times over the fastest: linear from 0 where they are near, else logarithmic.
  const ratioAxis = (title, most, ticks = {}) => (most < 4 ?
    axis(title, { min: 0, suggestedMax: Math.max(1.5, most * 1.02), ticks: { maxTicksLimit: 6, callback: (v) => String(Number(digits(v))), ...ticks } }) :
    axis(title, { type: "logarithmic", min: 0.9, max: most * 1.2, ticks: { ...logTicks((v) => (v < 1 ? "" : String(Number(digits(v))))), ...ticks } }));
  // Round ends for a logarithmic axis around some values.
  const logRange = (values) => {
    const low = Math.min(...values), high = Math.max(...values);
    return { min: low / 1.25, max: high * 1.25 };
  };
  const draw = (id, config) => {
    config.options = {
      responsive: true, maintainAspectRatio: false, layout: { padding: { right: 14 } }, animation: false, normalized: true,
      interaction: { mode: "nearest", intersect: false }, ...config.options,
    };
    config.options.plugins = {
      legend: { labels: { color: colour("ink"), usePointStyle: true, boxWidth: 8, boxHeight: 8, padding: 12, font: { size: 12 } } },
      ...config.options.plugins,
    };
    charts.push(new Chart(typeof id === "string" ? byId(id) : id, config));
  };
  const tooltip = (lines) => ({
    callbacks: {
      title: () => "",
      label: (item) => (item.raw && item.raw.trial ? lines(item.raw.trial, item.raw) : item.dataset.label || item.formattedValue),
    },
  });

  function drawHead() {
    byId("operator").textContent = task.title;
    const where = [task.device, task.driver, task.timing, task.time.replace("T", " ").replace("Z", " UTC")].filter(Boolean);
    byId("where").replaceChildren(...where.flatMap((text, i) => (i ? [" · ", element("span", text)] : [text])));
    const good = timed(task), best = task.best === null ? null : task.trials[task.best];
    const base = task.default === null ? null : task.trials[task.default];
    const cards = byId("cards");
    cards.replaceChildren();
    const card = (value, label, kind = "") => {
      const made = element("div", undefined, "card " + kind);
      made.append(element("b", value), element("span", label));
      cards.append(made);
    };
    card(best ? time(best.seconds) : "none", best ? `best, spread ${(best.spread * 100).toFixed(1)} %` : "nothing was timed");
    if (best && base && base.seconds) card(digits(base.seconds / best.seconds) + "×", `as fast as the default (${time(base.seconds)})`);
    if (best) card(digits(rate(task, best) / 1e9) + " GB/s", `${bytes(task.bytes)} to move`);
    card(count(task.trials.length), `trials of ${count(task.space_size)} schedules`);
    card(count(task.trials.length - good.length), "failed");
    if (best) card(best.mapping.replace("+", "+\u200b"), `best mapping (${best.class})`, "word");
    const verdict = byId("verdict");
    verdict.replaceChildren();
    if (!best) return;
    if (task.best === task.default) {
      verdict.append("No schedule was clearly faster than the default, so the default stands: ");
    } else {
      verdict.append("Best schedule: ");
    }
    verdict.append(element("code", best.schedule));
    const faster = good.filter((trial) => trial.seconds < best.seconds).length;
    if (faster) {
      verdict.append(`. ${faster} ${faster === 1 ? "has" : "have"} a lower median, but not clearly: the best is more deterministic or simpler, or was faster in turns.`);
    }
  }

  function drawCurve() {
    const line = [];
    let low = Infinity;
    for (const trial of task.trials) {
      if (trial.outcome === "timed") low = Math.min(low, trial.seconds);
      if (low < Infinity) line.push({ x: trial.n, y: low });
    }
    const sets = CLASSES.map((name) => ({
      label: name, data: timed(task).filter((t) => t.class === name).map((t) => ({ x: t.n, y: t.seconds, trial: t })),
      backgroundColor: faint(colour(name), 0.75), borderColor: colour(name), pointStyle: SHAPES[name], radius: 3.5, showLine: false,
    })).filter((set) => set.data.length);
    sets.push({ label: "best so far", data: line, stepped: true, showLine: true, radius: 0, hitRadius: 0,
      borderColor: colour("best"), borderWidth: 1.8, pointStyle: "line" });
    const base = task.default === null ? null : task.trials[task.default];
    if (base && base.seconds) {
      sets.push({ label: "default", showLine: true, radius: 0, hitRadius: 0, borderDash: [6, 4], borderWidth: 1.5, pointStyle: "line",
        borderColor: colour("default"), data: [{ x: 1, y: base.seconds }, { x: task.trials.length, y: base.seconds }] });
    }
    const failed = task.trials.filter((t) => t.outcome !== "timed");
    const range = logRange(timed(task).map((t) => t.seconds));
    if (failed.length) {
      sets.push({ label: "failed", showLine: false, pointStyle: "crossRot", radius: 4, borderColor: colour("quiet"), borderWidth: 1.5,
        data: failed.map((t) => ({ x: t.n, y: range.max / 1.06, trial: t })) });
    }
    draw("curve", { type: "scatter", data: { datasets: sets }, options: {
      scales: { x: axis("trial", { min: 0, max: task.trials.length, ticks: { precision: 0 } }),
        y: axis("", { type: "logarithmic", ...range, ticks: logTicks(time) }) },
      plugins: { tooltip: tooltip((t) => [`#${t.n} ${t.outcome === "timed" ? time(t.seconds) : t.outcome}`, ...wrapped(t.schedule)]) } } });
  }

  const wrapped = (schedule) => {
    const words = schedule.split(" "), half = Math.ceil(words.length / 2);
    return [words.slice(0, half).join(" "), words.slice(half).join(" ")];
  };

  // Several sizes of one kind: best time of each class over bytes. One: best time of each mapping.
  function drawCrossover() {
    const kin = tasks.filter((t) => t.device === task.device && t.timing === task.timing && timed(t).length);
    const sizes = new Set(kin.map((t) => t.bytes));
    if (sizes.size > 1) {
      // By class; where only one was tried, by mapping.
      const kinds = new Set(kin.flatMap((t) => timed(t).map((trial) => trial.class)));
      const key = kinds.size > 1 ? "class" : "mapping";
      const names = key === "class" ? CLASSES : [...new Set(kin.flatMap((t) => timed(t).map((trial) => trial.mapping)))];
      const palette = ["tree", "atomic", "hybrid", "default", "quiet", "best"];
      byId("crossover-title").textContent = "Time by mapping and size";
      byId("crossover-text").textContent = `Best time of each ${key} over the best of all, per task (${kin.length}): where lines cross, another mapping wins.`;
      const sets = names.map((name, at) => {
        const tint = colour(key === "class" ? name : palette[at % palette.length]);
        return { label: name, borderColor: tint, backgroundColor: tint, pointStyle: SHAPES[name] || "circle", radius: 4, borderWidth: 1.5,
          showLine: true,
          data: kin.map((t) => {
            const own = bestOf(timed(t).filter((trial) => trial[key] === name)), best = bestOf(timed(t));
            return own && { x: t.bytes, y: own.seconds / best.seconds, trial: own, task: t };
          }).filter(Boolean).sort((a, b) => a.x - b.x) };
      }).filter((set) => set.data.length);
      const values = sets.flatMap((set) => set.data.map((point) => point.y));
      draw("crossover", { type: "scatter", data: { datasets: sets }, options: {
        scales: { x: axis("bytes to move", { type: "logarithmic", ...logRange(kin.map((t) => t.bytes)), ticks: logTicks(bytes) }),
          y: ratioAxis("× the best", Math.max(...values)) },
        plugins: { tooltip: tooltip((t, point) => [point.task.title, `${t.mapping}: ${time(t.seconds)}`]) } } });
      return;
    }
    const names = [...new Set(timed(task).map((t) => t.mapping))];
    const rows = names.map((name) => bestOf(timed(task).filter((t) => t.mapping === name))).sort((a, b) => a.seconds - b.seconds);
    byId("crossover-title").textContent = "Time by mapping";
    byId("crossover-text").textContent = "The fastest schedule of each mapping that was tried. Logs of several sizes in one report show where mappings cross over.";
    byId("crossover-box").style.minHeight = Math.max(190, 34 + 26 * rows.length) + "px";
    const low = rows.length ? rows[0].seconds : 1;
    draw("crossover", { type: "bar", data: { labels: rows.map((t) => t.mapping),
      datasets: [{ data: rows.map((t) => t.seconds / low), backgroundColor: rows.map((t) => faint(colour(t.class), 0.85)), maxBarThickness: 16 }] },
      options: { indexAxis: "y",
        scales: { x: ratioAxis("× the fastest", rows[rows.length - 1].seconds / low),
          y: axis("", { ticks: { autoSkip: false, color: colour("ink") }, grid: { display: false } }) },
        plugins: { legend: { display: false }, tooltip: { callbacks: { label: (item) => {
          const t = rows[item.dataIndex];
          return [`${time(t.seconds)}, ${t.class}`, ...wrapped(t.schedule)];
        } } } } } });
  }

  function drawRoof() {
    const kin = tasks.filter((t) => t.device === task.device && t.timing === task.timing && timed(t).length);
    const points = kin.flatMap((t) => timed(t).map((trial) => ({ x: t.bytes, y: rate(t, trial), trial, task: t })));
    if (!points.length) return;
    const known = task.memory_bytes_per_second;
    const fastest = Math.max(...points.map((p) => p.y)), shortest = Math.min(...points.map((p) => p.trial.seconds));
    const roof = known || fastest;
    byId("roof-text").textContent = (known ? `Roof: ${digits(known / 1e9)} GB/s, the memory rate of the target. ` :
      `Roof: ${digits(fastest / 1e9)} GB/s, the fastest in these logs (the target states no memory rate). `) +
      `Left of the bend nothing was shorter than ${time(shortest)}. Large marks: best of each task.`;
    const few = Math.max(1, Math.floor(points.length / 1500));
    const sets = CLASSES.map((name) => ({
      label: name, showLine: false, pointStyle: SHAPES[name], radius: 2.5, borderColor: faint(colour(name), 0.5), backgroundColor: faint(colour(name), 0.35),
      data: points.filter((p, i) => p.trial.class === name && i % few === 0),
    })).filter((set) => set.data.length);
    const bests = kin.filter((t) => t.best !== null).map((t) => ({ x: t.bytes, y: rate(t, t.trials[t.best]), trial: t.trials[t.best], task: t }));
    sets.unshift({ label: "best", data: bests, showLine: false, radius: 6, borderWidth: 2, borderColor: colour("best"),
      backgroundColor: bests.map((p) => colour(p.trial.class)), pointStyle: bests.map((p) => SHAPES[p.trial.class]) });
    const xs = points.map((p) => p.x);
    const x = { min: Math.min(...xs) / 2, max: Math.max(...xs) * 2 };
    const bend = roof * shortest;
    const line = [x.min, Math.min(Math.max(bend, x.min), x.max), x.max].map((v) => ({ x: v, y: Math.min(roof, v / shortest) }));
    sets.push({ label: "roof", data: line, showLine: true, radius: 0, hitRadius: 0, borderColor: colour("quiet"), borderDash: [2, 3], borderWidth: 1.8, pointStyle: "line" });
    const range = logRange([...points.map((p) => p.y), ...line.map((p) => p.y)]);
    draw("roof", { type: "scatter", data: { datasets: sets }, options: {
      scales: { x: axis("bytes to move", { type: "logarithmic", ...x, ticks: logTicks(bytes) }),
        y: axis("GB/s", { type: "logarithmic", ...range, ticks: logTicks((v) => String(Number((v / 1e9).toPrecision(2)))) }) },
      plugins: { tooltip: tooltip((t, p) => [p.task.title, `${digits(p.y / 1e9)} GB/s, ${time(t.seconds)}`, ...wrapped(t.schedule)]) } } });
  }

  // A line with its name across a chart whose x axis counts bins.
  const marker = (position, label) => ({
    id: "marker",
    afterDatasetsDraw(chart) {
      if (position === null) return;
      const { ctx, chartArea: area, scales } = chart;
      const x = scales.x.left + (scales.x.width * position) / chart.data.labels.length;
      ctx.save();
      ctx.strokeStyle = ctx.fillStyle = colour("default");
      ctx.setLineDash([5, 4]);
      ctx.lineWidth = 1.8;
      ctx.beginPath();
      ctx.moveTo(x, area.top);
      ctx.lineTo(x, area.bottom);
      ctx.stroke();
      ctx.font = "600 12px system-ui, sans-serif";
      const right = x < (area.left + area.right) / 2;
      ctx.textAlign = right ? "left" : "right";
      ctx.fillText(label, x + (right ? 6 : -6), area.top + 12);
      ctx.restore();
    },
  });

  function drawSpread() {
    const good = timed(task);
    if (!good.length) return;
    const low = bestOf(good).seconds, most = Math.max(...good.map((t) => t.seconds / low));
    const step = most > 300 ? Math.SQRT2 * Math.SQRT2 : most > 20 ? Math.SQRT2 : most > 3 ? 2 ** 0.25 : 2 ** 0.125;
    const binOf = (ratio) => Math.log(ratio) / Math.log(step);
    const bins = Math.floor(binOf(most) + 1e-9) + 1;
    const labels = Array.from({ length: bins }, (_, i) => digits(step ** i));
    const sets = CLASSES.map((name) => {
      const data = new Array(bins).fill(0);
      for (const t of good) if (t.class === name) ++data[Math.min(bins - 1, Math.floor(binOf(t.seconds / low) + 1e-9))];
      return { label: name, data, backgroundColor: faint(colour(name), 0.85), categoryPercentage: 0.94, barPercentage: 1 };
    }).filter((set) => set.data.some(Boolean));
    const base = task.default === null ? null : task.trials[task.default];
    const has = base && base.seconds;
    const slower = has ? good.filter((t) => t.seconds > base.seconds).length : 0;
    byId("spread-text").textContent = has ?
      `The default is faster than ${Math.round((100 * slower) / Math.max(1, good.length - 1))} % of the other timed schedules. They are those of the search, not a fair sample of the space.` :
      "The default has no time here. Schedules are those of the search, not a fair sample of the space.";
    draw("spread", { type: "bar", data: { labels, datasets: sets }, plugins: [marker(has ? binOf(base.seconds / low) : null, "default")], options: {
      scales: { x: axis("time over the fastest, from", { stacked: true, grid: { display: false } }),
        y: axis("schedules", { stacked: true, ticks: { precision: 0 } }) } } });
  }

  function drawFailures() {
    const box = byId("failures");
    box.replaceChildren();
    if (!task.failures.length) {
      box.append(element("p", `None: all ${count(task.trials.length)} schedules compiled, gave the right answer and were timed.`, "quiet"));
      return;
    }
    const most = Math.max(...task.failures.map((f) => f.count));
    for (const failure of task.failures) {
      const row = element("div", undefined, "reason");
      row.append(element("div", `${failure.outcome.replace("_", " ")}: ${count(failure.count)} of ${count(task.trials.length)}`));
      const track = element("div", undefined, "track"), fill = element("i");
      fill.style.width = (100 * failure.count) / most + "%";
      track.append(fill);
      row.append(track, element("div", "as " + failure.example, "example"));
      box.append(row);
    }
  }

  function drawEffects() {
    const box = byId("effects");
    box.replaceChildren();
    const good = timed(task);
    if (!good.length) return;
    const low = bestOf(good).seconds;
    for (const name of ["block", "grid", ...SIZES]) {
      const groups = new Map();
      for (const t of good) {
        const value = fieldsOf(t)[name];
        if (value !== undefined) groups.set(value, [...(groups.get(value) || []), t.seconds / low]);
      }
      if (groups.size < 2) continue;
      const values = [...groups.keys()].sort((a, b) => (isNaN(a) ? String(a).localeCompare(b) : a - b));
      const best = values.map((v) => Math.min(...groups.get(v))), middle = values.map((v) => median(groups.get(v)));
      const panel = element("div", undefined, "effect"), title = element("h3", name);
      title.append(element("span", ` ${values.length} values`));
      const holder = element("div", undefined, "chart"), canvas = element("canvas");
      holder.append(canvas);
      panel.append(title, holder);
      box.append(panel);
      const winner = task.best === null ? null : fieldsOf(task.trials[task.best])[name];
      draw(canvas, { data: { labels: values, datasets: [
        { type: "line", data: middle, showLine: false, pointStyle: "line", radius: 7, borderWidth: 2, borderColor: colour("quiet"), label: "median" },
        { type: "bar", data: best, backgroundColor: values.map((v) => (v === winner ? colour("accent") : colour("bar"))), maxBarThickness: 26, label: "best" },
      ] }, options: { interaction: { mode: "index", intersect: false },
        scales: { x: axis("", { grid: { display: false }, ticks: isNaN(values[0]) ? { font: { size: 10.5 }, autoSkip: false, maxRotation: 40 } : { font: { size: 11 } } }),
          y: ratioAxis("", Math.max(...middle, ...best), { font: { size: 11 } }) },
        plugins: { legend: { display: false }, tooltip: { callbacks: {
          title: (items) => `${name} = ${items[0].label} (${groups.get(values[items[0].dataIndex]).length} schedules)`,
          label: (item) => `${item.dataset.label}: ${digits(item.raw)} × the fastest` } } } } });
    }
  }

  const COLUMNS = [
    { key: "n", title: "#", number: true, value: (t) => t.n },
    { key: "seconds", title: "time", number: true, value: (t) => t.seconds ?? Infinity, text: (t) => (t.seconds ? time(t.seconds) : "") },
    { key: "spread", title: "spread", number: true, value: (t) => t.spread ?? Infinity, text: (t) => (t.seconds ? (t.spread * 100).toFixed(1) + " %" : "") },
    { key: "rate", title: "GB/s", number: true, value: (t) => (t.seconds ? rate(task, t) : 0), text: (t) => (t.seconds ? digits(rate(task, t) / 1e9) : "") },
    { key: "ratio", title: "vs default", number: true, value: (t) => -ratioOf(t), text: (t) => (ratioOf(t) ? digits(ratioOf(t)) + "×" : "") },
    { key: "mapping", title: "mapping", value: (t) => t.mapping },
    { key: "schedule", title: "schedule", value: (t) => t.schedule },
    { key: "outcome", title: "outcome", value: (t) => t.outcome, text: (t) => (t.outcome === "timed" ? "" : t.outcome.replace("_", " ") + ": " + t.detail) },
    { key: "kernel", title: "kernel", value: () => 0 },
  ];
  const ratioOf = (t) => {
    const base = task.default === null ? null : task.trials[task.default];
    return base && base.seconds && t.seconds ? base.seconds / t.seconds : 0;
  };

  function drawTable() {
    const words = byId("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    const column = COLUMNS.find((c) => c.key === order.key);
    const rows = task.trials.filter((t) => {
      const text = `${t.schedule} ${t.mapping} ${t.class} ${t.outcome} ${t.detail || ""}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    rows.sort((a, b) => {
      const x = column.value(a), y = column.value(b);
      return (x < y ? -1 : x > y ? 1 : a.n - b.n) * (order.up ? 1 : -1);
    });
    const head = element("tr");
    for (const c of COLUMNS) {
      const cell = element("th", c.title, c.number ? "number" : "");
      if (c.key === order.key) cell.setAttribute("aria-sort", order.up ? "ascending" : "descending");
      cell.onclick = () => {
        order = { key: c.key, up: order.key === c.key ? !order.up : true };
        drawTable();
      };
      head.append(cell);
    }
    document.querySelector("#trials thead").replaceChildren(head);
    const shown = all ? rows : rows.slice(0, FIRST_ROWS);
    document.querySelector("#trials tbody").replaceChildren(...shown.map(rowOf));
    byId("count").textContent = `${count(rows.length)} of ${count(task.trials.length)}`;
    byId("more").style.display = rows.length > shown.length ? "" : "none";
    byId("more").textContent = `show all ${count(rows.length)}`;
  }

  function rowOf(t) {
    const row = element("tr");
    const index = t.n - 1;
    if (index === task.best) row.className = "best";
    else if (index === task.default) row.className = "default";
    for (const c of COLUMNS) {
      const cell = element("td", c.text ? c.text(t) : c.value(t), c.number ? "number" : "");
      if (c.key === "mapping") {
        const dot = element("span", undefined, "dot");
        dot.style.background = colour(t.class);
        cell.prepend(dot);
      }
      if (c.key === "schedule") {
        cell.className = "schedule";
        for (const [name, at] of [["best", task.best], ["default", task.default]]) {
          if (at !== index) continue;
          const tag = element("span", name, "tag");
          tag.style.background = colour(name);
          cell.append(tag);
        }
      }
      if (c.key === "outcome") cell.className = "why";
      if (c.key === "kernel") cell.replaceChildren(kernelLink(t));
      row.append(cell);
    }
    return row;
  }

  const kernelOf = (t) => (task.kernels || []).findIndex((kernel) => kernel.schedule === t.schedule);
  const command = (t) => `redtune show ${task.operator_words} --target ${task.target} --kernel --schedule "${t.schedule}"`;
  function kernelLink(t) {
    const at = kernelOf(t);
    const link = element("a", at >= 0 ? "text" : "command");
    link.href = at >= 0 ? "#kernel-" + at : "#";
    link.onclick = (event) => {
      if (at >= 0) {
        byId("kernel-" + at).open = true;
        return;
      }
      event.preventDefault();
      if (navigator.clipboard) navigator.clipboard.writeText(command(t)).catch(() => {});
      const cell = link.parentElement;
      cell.replaceChildren(element("code", command(t)));
      cell.style.whiteSpace = "normal";
    };
    if (at < 0) link.title = "copies the command that prints it";
    return link;
  }

  function drawKernels() {
    const box = byId("kernels");
    box.replaceChildren();
    const kernels = task.kernels || [];
    byId("kernels-panel").style.display = kernels.length ? "" : "none";
    kernels.forEach((kernel, at) => {
      const details = element("details");
      details.id = "kernel-" + at;
      details.append(element("summary", kernel.schedule));
      if (kernel.note) details.append(element("p", kernel.note, "quiet"));
      details.append(element("pre", kernel.text));
      box.append(details);
    });
  }

  function drawRedo() {
    const list = byId("redo");
    list.replaceChildren();
    const best = task.best === null ? null : task.trials[task.best];
    const rows = [["the search", task.command], ["operator", task.operator], ["canonical form", task.form],
      ["strategy", task.strategy && `${task.strategy}, seed ${task.seed}`], ["log", task.log],
      ["measured", [task.time, task.host && "on " + task.host, task.version && "redtune " + task.version, `${task.runs} ${task.runs === 1 ? "run" : "runs"}`].filter(Boolean).join(", ")],
      ["run the best", best && `redtune run ${task.operator_words} --schedule "${best.schedule}"`],
      ["left out", task.older_texts && `${task.older_texts} records of older kernel texts`],
      ["warnings", report.warnings.join("; ")]];
    for (const [name, text] of rows) {
      if (!text) continue;
      const value = element("dd");
      value.append(element("code", text));
      list.append(element("dt", name), value);
    }
  }

  function save(name, type, text) {
    const link = element("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    URL.revokeObjectURL(link.href);
  }
  function csvOf() {
    const names = ["n", "schedule", "mapping", "class", "outcome", "seconds", "low", "high", "spread", "samples", "compile_seconds", "measure_seconds", "detail"];
    const cell = (v) => (v === undefined ? "" : /[",\n]/.test(v) ? `"${String(v).replace(/"/g, '""')}"` : v);
    return [names.join(","), ...task.trials.map((t) => names.map((n) => cell(t[n])).join(","))].join("\n") + "\n";
  }

  function drawCharts() {
    for (const chart of charts) chart.destroy();
    charts = [];
    if (timed(task).length) {
      drawCurve();
      drawCrossover();
      drawRoof();
      drawSpread();
    }
    drawEffects();
  }
  function drawAll() {
    drawHead();
    drawCharts();
    drawFailures();
    drawTable();
    drawKernels();
    drawRedo();
  }

  const started = performance.now();
  const wanted = location.hash.match(/^#(light|dark)$/);
  if (wanted) document.documentElement.dataset.theme = wanted[1];
  if (tasks.length > 1) {
    byId("pick").style.display = "block";
    tasks.forEach((t, i) => {
      const option = element("option", `${t.title} — ${t.device}, ${t.timing}`);
      option.value = i;
      byId("task").append(option);
    });
    byId("task").onchange = (event) => {
      task = tasks[Number(event.target.value)];
      all = false;
      drawAll();
    };
  }
  byId("theme").onclick = () => {
    const dark = document.documentElement.dataset.theme ?
      document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    drawCharts();
    drawTable();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    drawCharts();
    drawTable();
  });
  byId("filter").oninput = () => drawTable();
  byId("more").onclick = () => {
    all = true;
    drawTable();
  };
  byId("csv").onclick = () => save("trials.csv", "text/csv", csvOf());
  byId("json").onclick = () => save("report.json", "application/json", JSON.stringify(report, null, 1));
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  drawAll();
  document.documentElement.dataset.readyMilliseconds = Math.round(performance.now() - started);
  document.documentElement.dataset.charts = charts.length;
})();
