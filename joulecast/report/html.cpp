#include "joulecast/report/html.h"

#include <algorithm>
#include <utility>

#include "joulecast/report/figure_text.h"

namespace joulecast {
namespace {

constexpr const char* page_style = R"css(
:root{color-scheme:light dark;--ink:#1c1e21;--quiet:#5a6068;--ground:#fff;--raised:#f5f6f8;--rule:#d9dce1;--accent:#0072B2;--note:#8a4b00}
@media (prefers-color-scheme:dark){:root{--ink:#e6e8eb;--quiet:#a2a9b3;--ground:#15181c;--raised:#1e2228;--rule:#363c45;--accent:#56B4E9;--note:#E69F00}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif;overflow-wrap:anywhere}
header,main,footer{max-width:1200px;margin:0 auto;padding:0 20px}
h1{font-size:1.7rem;line-height:1.25;margin:1.6rem 0 .6rem}
h2{font-size:1.3rem;margin:2.6rem 0 .6rem;padding-top:.7rem;border-top:1px solid var(--rule)}
h3{font-size:1.05rem;margin:1.8rem 0 .4rem}
.summary{font-size:1.12rem;max-width:75ch}
p{max-width:85ch;margin:.6rem 0}
.note{color:var(--note);font-size:.93rem;border-left:3px solid var(--note);padding-left:.7rem}
nav{display:flex;flex-wrap:wrap;gap:.3rem 1rem;font-size:.95rem;margin:1rem 0}
a{color:var(--accent)}
figure{margin:1.4rem 0}
figcaption strong{display:block}
figcaption{font-size:.93rem;color:var(--quiet);margin-bottom:.3rem}
figcaption strong{color:var(--ink);font-size:1.02rem}
.plot{width:100%;position:relative}
.scroll{overflow-x:auto;border:1px solid var(--rule);border-radius:6px;margin:.6rem 0}
table{border-collapse:collapse;font-size:.88rem;min-width:100%}
caption{text-align:left;font-weight:600;padding:.5rem .7rem;caption-side:top}
th,td{padding:.32rem .7rem;text-align:left;vertical-align:top;border-bottom:1px solid var(--rule)}
th{background:var(--raised);font-weight:600;white-space:nowrap}
tr:last-child td{border-bottom:0}
td{white-space:nowrap}
td.long{white-space:normal;min-width:22ch;max-width:70ch;overflow-wrap:anywhere}
.number{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.bad{color:#B00020}
footer{color:var(--quiet);font-size:.88rem;padding-bottom:2rem;margin-top:2.5rem}
@media (max-width:600px){header,main,footer{padding:0 12px}h1{font-size:1.35rem}h2{font-size:1.15rem}body{font-size:15px}}
@media print{:root{--ink:#000;--quiet:#444;--ground:#fff;--raised:#f2f2f2;--rule:#bbb;--accent:#000;--note:#5c3200}
nav{display:none}figure,tr{break-inside:avoid}h2,h3{break-after:avoid}.scroll{overflow:visible;border:0}table{font-size:7.5pt}th{white-space:normal}
td.long{min-width:0}header,main,footer{max-width:none;padding:0}}
)css";

// Draws every figure in the colours of the screen, or of paper while printing. Narrow screens get small letters and
// short labels. A figure that fails says so in its place, and the others are drawn.
constexpr const char* page_script = R"js(
(function(){
"use strict";
const dark=matchMedia("(prefers-color-scheme: dark)");
const light_colours={ink:"#1c1e21",grid:"#e3e5e9"},dark_colours={ink:"#e6e8eb",grid:"#3a414b"};
const paper={ink:"#000000",grid:"#cccccc"};
const shortened=text=>{text=String(text);return text.length>20?text.slice(0,19)+"\u2026":text;};
function dressed(layout,colours,width){
  const result=JSON.parse(JSON.stringify(layout)),narrow=width<600;
  result.paper_bgcolor=result.plot_bgcolor="rgba(0,0,0,0)";
  result.font=Object.assign({},result.font,{color:colours.ink,size:narrow?11:13});
  result.modebar={bgcolor:"rgba(0,0,0,0)",color:colours.grid,activecolor:colours.ink};
  if(result.legend)result.legend.bgcolor="rgba(0,0,0,0)";
  if(narrow&&result.margin&&result.xaxis)Object.assign(result.margin,{l:46,r:10,b:54});
  for(const key of Object.keys(result)){
    if(!/^[xy]axis\d*$/.test(key))continue;
    Object.assign(result[key],{gridcolor:colours.grid,linecolor:colours.grid});
    if(narrow&&result[key].ticktext)result[key].ticktext=result[key].ticktext.map(shortened);
  }
  return result;
}
const drawn=[];
function draw(figure,place){
  const at=document.getElementById("figure"+place);
  try{
    const colours=dark.matches?dark_colours:light_colours;
    const done=Plotly.newPlot(at,figure.data,dressed(figure.layout,colours,at.clientWidth),
      {responsive:true,displaylogo:false,displayModeBar:at.clientWidth<600?false:"hover"});
    drawn.push([at,figure]);
    return done;
  }catch(error){
    at.textContent="This figure could not be drawn: "+error;
    at.classList.add("bad");
    console.error(error);
  }
}
function dress(colours){for(const [at,figure] of drawn)Plotly.relayout(at,dressed(figure.layout,colours,at.clientWidth));}
figures.forEach(draw);
dark.addEventListener("change",()=>dress(dark.matches?dark_colours:light_colours));
addEventListener("beforeprint",()=>dress(paper));
addEventListener("afterprint",()=>dress(dark.matches?dark_colours:light_colours));
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

std::string cell_html(const Cell& cell, Show how) {
    const bool number = is_number(how) || std::holds_alternative<double>(cell);
    const std::string text = show(cell, how);
    const char* const kind = number ? " class=\"number\"" : text.size() > long_cell ? " class=\"long\"" : "";
    return std::string("<td") + kind + ">" + escaped(text) + "</td>";
}

std::string to_html_block(const TitledTable& titled) {
    const Table& table = titled.table;
    std::string html = "<div class=\"scroll\" tabindex=\"0\"><table>";
    if (!titled.title.empty()) html += "<caption>" + escaped(titled.title) + "</caption>";
    html += "<thead><tr>";
    for (const Table::Head& head : table.heads)
        html += std::string("<th") + (is_number(head.show) ? " class=\"number\"" : "") + ">" + escaped(head.header) +
                "</th>";
    html += "</tr></thead>\n<tbody>";
    const std::size_t shown = std::min(table.rows.size(), most_shown_rows);
    for (std::size_t row = 0; row < shown; ++row) {
        html += "<tr>";
        for (std::size_t i = 0; i < table.rows[row].size(); ++i)
            html += cell_html(table.rows[row][i], table.heads[i].show);
        html += "</tr>\n";
    }
    html += "</tbody></table></div>\n";
    if (table.rows.size() > shown)
        html += "<p class=\"note\">" + std::to_string(table.rows.size() - shown) + " more rows are not shown.</p>\n";
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
        figures.push_back(figure.json);
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
    std::string html = head_html(page.title) + "<header>\n<h1>" + escaped(page.title) + "</h1>\n<p class=\"summary\">" +
                       escaped(page.summary) + "</p>\n<nav>" + navigation + "</nav>\n</header>\n<main>\n" + body.html +
                       "</main>\n<footer>" + escaped(page.footer) + "</footer>\n";
    if (!body.figures.empty()) {
        html += "<script>" + plotly + "</script>\n<script>\nconst figures=[";
        for (const std::string& figure : body.figures) html += figure + ",\n";
        html += "];" + std::string(page_script) + "</script>\n";
    }
    return html + "</body>\n</html>\n";
}

}  // namespace joulecast
