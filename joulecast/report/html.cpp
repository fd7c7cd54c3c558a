#include "joulecast/report/html.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "joulecast/report/base64.h"
#include "joulecast/report/figure_text.h"

namespace joulecast {
namespace {

constexpr const char* page_style = R"css(
:root{color-scheme:light dark;--ink:#1c1e21;--quiet:#565c64;--ground:#fff;--raised:#f5f6f8;--rule:#d9dce1;--accent:#0072B2;--note:#8a4b00}
@media (prefers-color-scheme:dark){:root{--ink:#e6e8eb;--quiet:#a2a9b3;--ground:#15181c;--raised:#1e2228;--rule:#363c45;--accent:#56B4E9;--note:#E69F00}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif;overflow-wrap:break-word}
header,main,footer{max-width:1480px;margin:0 auto;padding:0 20px}
h1{font-size:1.7rem;line-height:1.25;margin:1.4rem 0 .6rem}
h2{font-size:1.3rem;margin:2rem 0 .5rem;padding-top:.6rem;border-top:1px solid var(--rule)}
h3{font-size:1.05rem;margin:1.4rem 0 .3rem}
.summary{font-size:1.12rem;max-width:110ch}
dl.asked{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1.2rem;margin:.8rem 0;font-size:.95rem}
dl.asked dt{color:var(--quiet)}
dl.asked dd{margin:0}
code{font:.88em ui-monospace,"DejaVu Sans Mono",monospace;background:var(--raised);padding:.1rem .35rem;border-radius:4px;overflow-wrap:anywhere}
p{max-width:120ch;margin:.5rem 0}
.note{color:var(--note);font-size:.93em;border-left:3px solid var(--note);padding-left:.7rem}
nav{display:flex;flex-wrap:wrap;gap:.3rem 1rem;font-size:.95rem;margin:.8rem 0}
a{color:var(--accent)}
figure{margin:.9rem 0;min-width:0}
figcaption strong{display:block}
figcaption{font-size:.93em;color:var(--quiet);margin-bottom:.3rem}
figcaption strong{color:var(--ink);font-size:1.08em}
.plot{width:100%;position:relative}
.beside{display:grid;grid-template-columns:1fr;column-gap:28px}
@media (min-width:1000px){.beside.two{grid-template-columns:1fr 1fr}.beside.three{grid-template-columns:1fr 1fr 1fr}}
details{border:1px solid var(--rule);border-radius:6px;margin:.8rem 0;padding:0 .8rem}
summary{cursor:pointer;padding:.5rem 0;color:var(--accent)}
.scroll{overflow-x:auto;border:1px solid var(--rule);border-radius:6px;margin:.6rem 0}
table{border-collapse:collapse;font-size:.88rem;min-width:100%}
caption{text-align:left;font-weight:600;padding:.5rem .7rem;caption-side:top}
th,td{padding:.32rem .7rem;text-align:left;vertical-align:top;border-bottom:1px solid var(--rule)}
th{background:var(--raised);font-weight:600}
tr:last-child td{border-bottom:0}
td{white-space:nowrap}
td.long{white-space:normal;min-width:16ch}
tr.with-more td{border-bottom:0;padding-bottom:0}
tr.more td{white-space:normal;overflow-wrap:anywhere;color:var(--quiet);font-size:.93em;padding-top:0}
.number{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.bad{color:#B00020}
footer{color:var(--quiet);font-size:.88rem;padding-bottom:2rem;margin-top:2.5rem}
@media (max-width:700px){header,main,footer{padding:0 12px}h1{font-size:1.35rem}h2{font-size:1.15rem}body{font-size:15px}
dl.asked{grid-template-columns:1fr}dl.asked dd{margin-bottom:.3rem}
.scroll table,.scroll tbody,.scroll tr,.scroll td,.scroll caption{display:block}.scroll thead{display:none}
.scroll tr{border-bottom:1px solid var(--rule);padding:.3rem 0}.scroll tr.with-more{border-bottom:0}
.scroll td{display:flex;justify-content:space-between;gap:1rem;border:0;padding:.1rem .7rem;white-space:normal;text-align:right;min-width:0;overflow-wrap:anywhere}
.scroll td::before{content:attr(data-head);color:var(--quiet);text-align:left;flex:none;max-width:45%}
.scroll tr.more td{display:block;text-align:left}}
@page{size:A4;margin:11mm}
@media print{:root{--ink:#000;--quiet:#444;--ground:#fff;--raised:#f2f2f2;--rule:#bbb;--accent:#000;--note:#5c3200}
body{font-size:9.5pt;line-height:1.35}h1{font-size:15pt;margin-top:0}h2{font-size:12pt;margin:.9rem 0 .3rem}h3{margin:.5rem 0 .2rem}
nav,details:not([open]){display:none}figure,tr{break-inside:avoid}h2,h3,summary{break-after:avoid}thead{display:table-header-group}
header,main,footer{max-width:none;padding:0}.summary{font-size:10.5pt}figure{margin:.4rem 0}figcaption{font-size:8.5pt}
.beside.two,.beside.three{display:grid;grid-template-columns:1fr 1fr;column-gap:12px}
.modebar{display:none!important}.scroll{overflow:visible;border:0}table{font-size:7.5pt}th,td{padding:.12rem .4rem}td.long{min-width:14ch}}
)css";

// Draws the figures one after the other, so that the first is there while the others are still drawn, in the colours of
// the screen, or of paper while printing; those behind a click when they are opened. Narrow figures get small letters
// and short labels. A figure that fails says so in its place, and the others are drawn. On paper a figure takes the
// width that the page has (A4 without the margins of @page), since a browser prints what was drawn for the screen.
constexpr const char* page_script = R"js(
(function(){
"use strict";
const dark=matchMedia("(prefers-color-scheme: dark)");
const light_colours={ink:"#1c1e21",grid:"#e3e5e9",branch:"#e9ebee"},dark_colours={ink:"#e6e8eb",grid:"#3a414b",branch:"#2a3038"};
const paper={ink:"#000000",grid:"#cccccc",branch:"#eeeeee"};
const paper_px={whole:700,half:342};
const on_screen=()=>dark.matches?dark_colours:light_colours;
const shortened=text=>String(text).split("<br>").map(line=>line.length>28?line.slice(0,27)+"\u2026":line).join("<br>");
function dressed(layout,colours,width){
  const result=JSON.parse(JSON.stringify(layout)),narrow=width<600;
  result.paper_bgcolor=result.plot_bgcolor="rgba(0,0,0,0)";
  result.font=Object.assign({},result.font,{color:colours.ink,size:width<360?9:narrow?11:13});
  result.modebar={bgcolor:"rgba(0,0,0,0)",color:colours.grid,activecolor:colours.ink};
  if(result.legend)result.legend.bgcolor="rgba(0,0,0,0)";
  if(narrow&&result.margin&&result.xaxis)Object.assign(result.margin,{l:46,r:10,b:44});
  for(const key of Object.keys(result)){
    if(!/^[xy]axis\d*$/.test(key))continue;
    Object.assign(result[key],{gridcolor:colours.grid,linecolor:colours.grid});
    if(narrow&&result[key].ticktext)result[key].ticktext=result[key].ticktext.map(shortened);
  }
  return result;
}
// Whiskers and the letters of a treemap's groups take the ink's colour, groups the ground's.
function coloured(data,colours){
  return data.map(trace=>{
    const result=Object.assign({},trace);
    for(const bars of ["error_x","error_y"])if(trace[bars])result[bars]=Object.assign({},trace[bars],{color:colours.ink});
    if(trace.type!=="treemap")return result;
    const of=colour=>colours[colour]||colour;
    result.marker=Object.assign({},trace.marker,{colors:trace.marker.colors.map(of),line:{width:1,color:colours.grid}});
    result.textfont=Object.assign({},trace.textfont,{color:trace.textfont.color.map(of)});
    return result;
  });
}
const drawn=new Map();
const place_of=place=>document.getElementById("figure"+place);
const is_shown=at=>!at.closest("details:not([open])");
function draw(place){
  const at=place_of(place);
  if(drawn.has(place)||!is_shown(at))return;
  try{
    const figure=figures[place],colours=on_screen();
    drawn.set(place,figure);
    Plotly.newPlot(at,coloured(figure.data,colours),dressed(figure.layout,colours,at.clientWidth),
      {responsive:true,displaylogo:false,displayModeBar:at.clientWidth<600?false:"hover"});
  }catch(error){
    at.textContent="This figure could not be drawn: "+error;
    at.classList.add("bad");
    console.error(error);
  }
}
function draw_next(){
  const next=figures.findIndex((figure,place)=>!drawn.has(place)&&is_shown(place_of(place)));
  if(next<0){document.documentElement.dataset.drawn="yes";return;}
  draw(next);
  setTimeout(draw_next,0);
}
function dress(colours,on_paper){
  for(const [place,figure] of drawn){
    const at=place_of(place);
    if(!is_shown(at))continue;
    const width=on_paper?(at.closest(".beside")?paper_px.half:paper_px.whole):at.clientWidth;
    const layout=dressed(figure.layout,colours,on_paper?Math.min(width,590):width);
    const height=figure.height,entries=layout.showlegend?figure.data.filter(trace=>trace.showlegend!==false).length:0;
    const most=at.closest(".beside")?270+11*Math.max(0,entries-4):420;
    at.style.height=(on_paper?Math.round(Math.min(most,Math.max(200+10*entries,height*.75))):height)+"px";
    if(on_paper)Object.assign(layout,{width:width,height:parseInt(at.style.height),autosize:false});
    else Object.assign(layout,{autosize:true,width:undefined,height:undefined});
    Plotly.react(at,coloured(figure.data,colours),layout);
  }
}
function start(){
  draw_next();
  for(const details of document.querySelectorAll("details"))details.addEventListener("toggle",draw_next);
  dark.addEventListener("change",()=>dress(on_screen(),false));
  addEventListener("beforeprint",()=>{figures.forEach((figure,place)=>draw(place));dress(paper,true);});
  addEventListener("afterprint",()=>dress(on_screen(),false));
}
// Without Blob or Response: these ask other processes, which a browser that prints at once does not wait for.
async function unpacked(text){
  const letters=atob(text),bytes=new Uint8Array(letters.length);
  for(let i=0;i<letters.length;++i)bytes[i]=letters.charCodeAt(i);
  const stream=new DecompressionStream("gzip"),writer=stream.writable.getWriter(),reader=stream.readable.getReader();
  writer.write(bytes);
  writer.close();
  const decoder=new TextDecoder();
  let result="";
  for(;;){
    const {done,value}=await reader.read();
    if(done)return result+decoder.decode();
    result+=decoder.decode(value,{stream:true});
  }
}
const packed=document.getElementById("packed");
if(!packed)return start();
unpacked(packed.textContent).then(text=>{
  const script=document.createElement("script");
  script.textContent=text;
  document.head.append(script);
  start();
}).catch(error=>{
  for(const at of document.querySelectorAll(".plot"))at.textContent="This browser cannot unpack the figures: "+error;
});
})();
)js";

/// Length of the well-formed UTF-8 sequence at the start of the text; 0: there is none (RFC 3629: no overlong forms, no
/// surrogates, nothing above U+10FFFF).
std::size_t sequence_length(std::string_view text) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned first = byte(0);
    const std::size_t length = first < 0x80                     ? 1
                               : first >= 0xc2 && first < 0xe0  ? 2
                               : first >= 0xe0 && first < 0xf0  ? 3
                               : first >= 0xf0 && first <= 0xf4 ? 4
                                                                : 0;
    if (length < 2) return length;
    if (text.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0U) != 0x80U) return 0;
    }
    const unsigned second = byte(1);
    const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
    const bool surrogate = first == 0xed && second >= 0xa0;
    const bool too_high = first == 0xf4 && second >= 0x90;
    return overlong || surrogate || too_high ? 0 : length;
}

bool is_number(Show show) {
    return show != Show::text;
}

constexpr std::size_t long_cell = 28;

std::string cell_html(const Cell& cell, const Table::Head& head) {
    const bool number = is_number(head.show) || std::holds_alternative<double>(cell);
    const std::string text = show(cell, head.show);
    const char* const kind = number ? " class=\"number\"" : text.size() > long_cell ? " class=\"long\"" : "";
    return std::string("<td") + kind + " data-head=\"" + escaped(head.header) + "\">" + escaped(text) + "</td>";
}

/// Rows from `from` on, before `to`; columns of `below` stand in a line of their own under each.
std::string rows_html(const Table& table, const std::vector<bool>& below, std::size_t from, std::size_t to) {
    const auto beside = static_cast<std::size_t>(std::ranges::count(below, false));
    const bool has_below = beside < below.size();
    std::string html = "<thead><tr>";
    for (std::size_t i = 0; i < table.heads.size(); ++i) {
        if (below[i]) continue;
        html += std::string("<th") + (is_number(table.heads[i].show) ? " class=\"number\"" : "") + ">" +
                escaped(table.heads[i].header) + "</th>";
    }
    html += "</tr></thead>\n<tbody>";
    for (std::size_t row = from; row < to; ++row) {
        std::string more;
        html += has_below ? "<tr class=\"with-more\">" : "<tr>";
        for (std::size_t i = 0; i < table.heads.size(); ++i) {
            const Cell& cell = table.rows[row][i];
            if (!below[i]) {
                html += cell_html(cell, table.heads[i]);
            } else if (!std::holds_alternative<std::monostate>(cell)) {
                more += (more.empty() ? "" : "<br>") + escaped(table.heads[i].header) + ": " +
                        escaped(show(cell, table.heads[i].show));
            }
        }
        html += "</tr>\n";
        if (has_below)
            html += "<tr class=\"more\"><td colspan=\"" + std::to_string(beside) + "\">" + more + "</td></tr>\n";
    }
    return html + "</tbody>";
}

std::string to_html_block(const TitledTable& titled) {
    const Table& table = titled.table;
    std::vector<bool> below;
    for (const Table::Head& head : table.heads)
        below.push_back(std::ranges::find(titled.keys_below, head.key) != titled.keys_below.end());
    const std::size_t rows = table.rows.size();
    const std::size_t open = std::min(rows, most_open_rows);
    const std::size_t shown = std::min(rows, most_shown_rows);
    const std::string begin = "<div class=\"scroll\" tabindex=\"0\"><table>";
    std::string html = begin;
    if (!titled.title.empty()) html += "<caption>" + escaped(titled.title) + "</caption>";
    html += rows_html(table, below, 0, open) + "</table></div>\n";
    if (shown > open)
        html += "<details><summary>" + std::to_string(shown - open) + " more rows</summary>" + begin +
                rows_html(table, below, open, shown) + "</table></div></details>\n";
    if (rows > shown) html += "<p class=\"note\">" + std::to_string(rows - shown) + " more rows are not shown.</p>\n";
    return html;
}

std::string to_html_block(const Heading& heading) {
    return "<h3>" + escaped(heading.text) + "</h3>\n";
}

std::string to_html_block(const Paragraph& paragraph) {
    const bool note = paragraph.kind == Paragraph::Kind::note;
    return std::string(note ? "<p class=\"note\">" : "<p>") + escaped(paragraph.text) + "</p>\n";
}

/// Chapters in order; figures are numbered through the page and their JSON is collected.
struct Body {
    std::string html;
    std::vector<std::string> figures;

    void add(const Drawing& figure) {
        html += "<figure><figcaption><strong>" + escaped(figure.title) + "</strong>" + escaped(figure.note) +
                "</figcaption><div class=\"plot\" id=\"figure" + std::to_string(figures.size()) +
                "\" style=\"height:" + std::to_string(static_cast<int>(figure.height_px)) + "px\"></div></figure>\n";
        // What stands around the figure's JSON is ours: `{"height":420,` and the rest of the object.
        figures.push_back("{\"height\":" + std::to_string(static_cast<int>(figure.height_px)) + "," +
                          figure.json.substr(1));
    }
    void add(const SideBySide& row) {
        html += std::string("<div class=\"beside ") + (row.columns > 2 ? "three" : "two") + "\">\n";
        for (const Drawing& drawing : row.drawings) add(drawing);
        html += "</div>\n";
    }
    void add(const Folded& folded) {
        html += "<details><summary>" + escaped(folded.title) + "</summary>\n";
        for (const auto& block : folded.blocks) std::visit([&](const auto& part) { add(part); }, block);
        html += "</details>\n";
    }
    template <class Other>
    void add(const Other& block) {
        html += to_html_block(block);
    }
};

std::string head_html(const std::string& title) {
    // default-src 'none': whatever stands in the page, it fetches nothing.
    return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; "
           "style-src 'unsafe-inline'; img-src data: blob:\">\n<title>" +
           escaped(title) + "</title>\n<style>" + page_style + "</style>\n</head>\n<body>\n";
}

std::string header_html(const Page& page, const std::string& navigation) {
    std::string html = "<header>\n<h1>" + escaped(page.title) + "</h1>\n";
    if (!page.asked.empty() || !page.commands.empty()) {
        html += "<dl class=\"asked\">";
        for (const auto& [name, value] : page.asked)
            html += "<dt>" + escaped(name) + "</dt><dd>" + escaped(value) + "</dd>\n";
        for (const std::string& command : page.commands)
            html += "<dt>command</dt><dd><code>" + escaped(command) + "</code></dd>\n";
        html += "</dl>\n";
    }
    std::istringstream lines(page.summary);
    for (std::string line; std::getline(lines, line);) html += "<p class=\"summary\">" + escaped(line) + "</p>\n";
    return html + "<nav>" + navigation + "</nav>\n</header>\n";
}

/// gzip's first two bytes (RFC 1952); no text of a program begins with them.
bool is_packed(const std::string& plotly) {
    return plotly.starts_with("\x1f\x8b");
}

std::string plotly_html(const std::string& plotly) {
    if (!is_packed(plotly)) return "<script>" + plotly + "</script>\n";
    return "<script type=\"text/plain\" id=\"packed\">" + base64(plotly) + "</script>\n";
}

}  // namespace

std::string escaped(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const std::size_t length = sequence_length(text);
        const auto c = static_cast<unsigned char>(text.front());
        if (length == 0 || c == 0x7f || (c < 0x20 && c != '\n'))
            result += "\xef\xbf\xbd";
        else if (c == '&')
            result += "&amp;";
        else if (c == '<')
            result += "&lt;";
        else if (c == '>')
            result += "&gt;";
        else if (c == '"')
            result += "&quot;";
        else if (c == '\'')
            result += "&#39;";
        else
            result += text.substr(0, length);
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return result;
}

Drawing drawn(Plot plot, const std::string& note) {
    Drawing drawing;
    drawing.title = std::exchange(plot.title, {});
    drawing.note = std::exchange(plot.subtitle, {});
    if (!note.empty()) drawing.note += (drawing.note.empty() ? "" : ". ") + note;
    drawing.height_px = plot.height_px;
    drawing.json = to_figure_json(plot);
    return drawing;
}

Drawing drawn(const Treemap& treemap, const std::string& note) {
    Drawing drawing;
    drawing.title = treemap.title;
    drawing.note = treemap.subtitle;
    if (!note.empty()) drawing.note += (drawing.note.empty() ? "" : ". ") + note;
    drawing.json = to_figure_json(treemap);
    return drawing;
}

std::string to_html(const Page& page, const std::string& plotly) {
    std::string navigation;
    Body body;
    for (std::size_t i = 0; i < page.chapters.size(); ++i) {
        const Chapter& chapter = page.chapters[i];
        const std::string id = "chapter" + std::to_string(i);
        navigation += "<a href=\"#" + id + "\">" + escaped(chapter.title) + "</a>\n";
        body.html += "<section id=\"" + id + "\">\n<h2>" + escaped(chapter.title) + "</h2>\n";
        for (const Block& block : chapter.blocks) std::visit([&](const auto& part) { body.add(part); }, block);
        body.html += "</section>\n";
    }
    std::string html = head_html(page.title) + header_html(page, navigation) + "<main>\n" + body.html +
                       "</main>\n<footer>" + escaped(page.footer) + "</footer>\n";
    if (!body.figures.empty()) {
        html += plotly_html(plotly) + "<script>\nconst figures=[";
        for (const std::string& figure : body.figures) html += figure + ",\n";
        html += "];" + std::string(page_script) + "</script>\n";
    }
    return html + "</body>\n</html>\n";
}

}  // namespace joulecast
