#include "joulecast/dataset/csv.h"

#include <regex>

#include <gmock/gmock.h>

#include "dataset/samples.h"
#include "joulecast/dataset/insertion.h"
#include "joulecast/error.h"

namespace joulecast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace joulecast::testing;

class CsvTest : public DatasetFolder {
  protected:
    std::string sample() {
        Dataset dataset(folder / "sample.db");
        dataset.insert(sample_device());
        Measurement odd = sample_measurement(relu(2));
        odd.message = "two\r\nlines, \"quoted\"";
        odd.energy = sample_energy(0.1);  // has no exact binary form
        odd.issue = sample_issue(0.1);
        odd.energy_missing_reason.clear();
        dataset.insert_missing({}, {{0, sample_measurement(relu(1)), Mode::inference, sample_provenance()}},
                               {{0, sample_network("resnet18", 8), sample_provenance()}},
                               {sample_reference("2026-01-02T03:04:05.000Z", 0.1)});
        dataset.insert(odd, sample_provenance());
        return text(dataset);
    }

    static std::string text(const Dataset& dataset, bool with_blocks = false) {
        std::ostringstream output;
        export_csv(dataset, output, with_blocks);
        return output.str();
    }

    /// The error of importing `csv` into a fresh database, which must stay empty.
    std::string rejected(const std::string& csv) {
        std::filesystem::remove(folder / "fresh.db");
        Dataset fresh(folder / "fresh.db");
        std::istringstream input(csv);
        std::string message = "no error";
        try {
            import_csv(fresh, input, "x.csv");
        } catch (const FormatError& error) {
            message = error.what();
        }
        EXPECT_TRUE(fresh.operations().empty() && fresh.networks().empty() && fresh.devices().empty());
        return message;
    }

    static std::string replaced(std::string text, const std::string& from, const std::string& to) {
        const std::size_t place = text.find(from);
        EXPECT_NE(place, std::string::npos) << from;
        return place == std::string::npos ? text : text.replace(place, from.size(), to);
    }
};

TEST_F(CsvTest, ImportsWhatItExported) {
    const std::string csv = sample();
    Dataset copy(folder / "copy.db");
    std::istringstream input(csv);
    const CsvImport result = import_csv(copy, input, "x.csv");
    EXPECT_EQ(result.rows, 4);
    EXPECT_EQ(result.added, 4);
    EXPECT_EQ(text(copy), csv);
    std::istringstream again(csv);
    EXPECT_EQ(import_csv(copy, again, "x.csv").added, 0);
    EXPECT_EQ(text(copy), csv);
}

TEST_F(CsvTest, TakesTheEngineOfOlderExportsFromTheFramework) {
    Provenance another = sample_provenance("s2");
    another.framework = "onnxruntime 1.20";
    Dataset dataset(folder / "a.db");
    dataset.insert(sample_device());
    dataset.insert(sample_measurement(relu(1)), another);
    dataset.insert(sample_network("resnet18", 8), another);
    ReferenceRow reference = sample_reference("2026-01-02T03:04:05.000Z", 0.1);
    reference.provenance = another;
    dataset.insert(reference);
    dataset.insert(sample_measurement(relu(2)), sample_provenance());  // of "none"
    // Exports of before had no such column, which reads as an empty one.
    const std::string old = std::regex_replace(text(dataset), std::regex(",torch,"), ",,");
    Dataset copy(folder / "copy.db");
    std::istringstream input(old);
    EXPECT_EQ(import_csv(copy, input, "x.csv").added, 4);
    EXPECT_EQ(copy.operations().at(0).measurement.asked.engine, "onnxruntime");
    EXPECT_EQ(copy.operations().at(0).measurement.real.engine, "onnxruntime");
    EXPECT_EQ(copy.operations().at(1).measurement.real.engine, "torch");
    EXPECT_EQ(copy.networks().at(0).measurement.real.engine, "onnxruntime");
    EXPECT_EQ(copy.references().at(0).asked.engine, "onnxruntime");
}

TEST_F(CsvTest, RefusesWhatIsNoNameOfAnEngine) {
    EXPECT_THAT(rejected(replaced(sample(), ",torch,", ",Torch 2,")), HasSubstr("engine 'Torch 2' is no name of one"));
}

TEST_F(CsvTest, WritesTheSpreadOfRepeatsBesideEachRowAndDoesNotTakeItBack) {
    Dataset dataset(folder / "a.db");
    dataset.insert(sample_device());
    dataset.insert(sample_measurement(relu(1)), sample_provenance());
    EXPECT_THAT(text(dataset), HasSubstr(",sigma_between\r\n"));
    dataset.insert(sample_reference("2026-01-02T03:04:05.000Z", 0.9));
    dataset.insert(sample_reference("2026-01-02T03:05:05.000Z", 1.1));
    // 0.9 and 1.1: mean 1, deviation sqrt(2 * 0.01 / 1)
    EXPECT_THAT(text(dataset), HasSubstr(",0.1414213562373095"));
    Dataset copy(folder / "copy.db");
    std::istringstream input(replaced(text(dataset), "0.141421356237309", "0.5"));
    EXPECT_EQ(import_csv(copy, input, "x.csv").added, 3);
    EXPECT_EQ(text(copy), text(dataset));
}

TEST_F(CsvTest, CarriesListsOfNetworks) {
    Dataset dataset(folder / "a.db");
    Insertion insertion(dataset);
    insertion.add(sample_line(relu(1), 3));
    insertion.add(sample_line(relu(2), 1));
    insertion.commit();
    const std::string csv = text(dataset);
    Dataset copy(folder / "copy.db");
    std::istringstream input(csv);
    EXPECT_EQ(import_csv(copy, input, "x.csv").added, 2);
    EXPECT_EQ(text(copy), csv);
    EXPECT_EQ(copy.network_operations().at(0).symbols, sample_line(relu(1), 3).symbols);
    // line 1 header, then the two lines of the list
    EXPECT_THAT(rejected(replaced(csv, ",3,,\r\n", ",0,,\r\n")), HasSubstr("x.csv:2: count is below 1"));
    EXPECT_THAT(rejected(replaced(csv, "mynet", "")), HasSubstr("x.csv:2: model is empty"));
    const std::size_t second = csv.find("\r\n") + 2;
    EXPECT_THAT(rejected(csv + csv.substr(second)), HasSubstr("x.csv:4: this network_operation occurs twice"));
}

TEST_F(CsvTest, RefusesReferencesThatCannotBe) {
    Dataset dataset(folder / "a.db");
    dataset.insert(sample_device());
    dataset.insert(sample_reference("2026-01-02T03:04:05.000Z", 0.25));
    const std::string csv = text(dataset);  // line 1 header, 2 device, 3 the reference
    EXPECT_THAT(rejected(replaced(csv, ",0.25,", ",0,")), HasSubstr("x.csv:3: time_mean_s is not above zero"));
    EXPECT_THAT(rejected(replaced(csv, ",0.25,", ",-1,")), HasSubstr("x.csv:3: time_mean_s is negative"));
    EXPECT_THAT(rejected(replaced(csv, "2026-01-02T03:04:05.000Z", "")), HasSubstr("x.csv:3: started_at is empty"));
    const std::size_t third = csv.find("\r\n", csv.find("\r\n") + 2) + 2;
    EXPECT_THAT(rejected(csv + csv.substr(third)), HasSubstr("x.csv:4: this reference occurs twice in the file"));
}

TEST_F(CsvTest, CarriesRawBlocksWhenAsked) {
    Dataset dataset(folder / "a.db");
    dataset.insert(sample_device());
    dataset.insert(sample_measurement(relu(1)), sample_provenance());
    Dataset copy(folder / "copy.db");
    std::istringstream input(text(dataset, true));
    import_csv(copy, input, "x.csv");
    EXPECT_EQ(copy.operations({}, true).at(0).measurement.block_s, sample_measurement(relu(1)).block_s);
}

TEST_F(CsvTest, NamesFileAndLineOfWhatIsWrong) {
    // Line 1 header, 2 device, 3 reference, 4 relu(1), 5-6 relu(2) with its line break, 7 network
    const std::string csv = sample();
    const std::string mean = "0.0003333333333333333";  // 1/3000 of relu(1), the first on line 4
    EXPECT_THAT(rejected(replaced(csv, mean, "nan")), HasSubstr("x.csv:4: time_mean_s 'nan' is no finite number"));
    EXPECT_THAT(rejected(replaced(csv, mean, "inf")), HasSubstr("x.csv:4: time_mean_s 'inf' is no finite number"));
    EXPECT_THAT(rejected(replaced(csv, mean, "-1")), HasSubstr("x.csv:4: time_mean_s is negative"));
    EXPECT_THAT(rejected(replaced(csv, mean, "")), HasSubstr("x.csv:4: time_mean_s is not above zero"));
    EXPECT_THAT(rejected(replaced(csv, mean, "1e999")), HasSubstr("x.csv:4: time_mean_s"));
    EXPECT_THAT(rejected(replaced(csv, mean, "fast")), HasSubstr("x.csv:4: time_mean_s 'fast'"));
    EXPECT_THAT(rejected(replaced(csv, mean, mean + ",")), HasSubstr("x.csv:4: has"));
    EXPECT_THAT(rejected(replaced(csv, "aten::relu(self=f32[2,", "aten::relu(self=q99[2,")),
                HasSubstr("x.csv:5: operation"));
    EXPECT_THAT(rejected(replaced(csv, "resnet18,batch=8", "resnet18,batch=x")), HasSubstr("x.csv:7: symbols"));
    EXPECT_THAT(rejected(replaced(csv, ",ok,", ",fine,")), HasSubstr("x.csv:4: outcome 'fine' is no known word"));
    EXPECT_THAT(rejected(replaced(csv, "joulecast.csv/2,operation", "joulecast.csv/3,operation")),
                HasSubstr("x.csv:4: schema is 'joulecast.csv/3', expected joulecast.csv/2"));
    EXPECT_THAT(rejected(replaced(csv, "joulecast.csv/2,network", "joulecast.csv/2,nation")),
                HasSubstr("x.csv:7: kind"));
    EXPECT_THAT(rejected(replaced(csv, "joulecast.csv/2,device", "joulecast.csv/2,network")), HasSubstr("x.csv:2:"));
}

// Of both versions: only the first has networks as torch.export traced them.
TEST_F(CsvTest, CallsNetworksOfTheFirstVersionByTheGraphsThatTheyWere) {
    const std::string now = replaced(sample(), "resnet18,batch=8", "gpt2,batch=8");
    std::string before = now;
    for (std::size_t at = 0; (at = before.find("joulecast.csv/2", at)) != std::string::npos; ++at)
        before.replace(at, 15, "joulecast.csv/1");
    const auto names = [&](const std::string& csv, const std::string& name) {
        Dataset imported(folder / name);
        std::istringstream input(csv);
        import_csv(imported, input, "x.csv");
        return imported.networks().front().measurement.model;
    };
    EXPECT_EQ(names(now, "now.db"), "gpt2");
    EXPECT_EQ(names(before, "before.db"), "gpt2@traced");
}

TEST_F(CsvTest, RefusesHeadersItDoesNotKnow) {
    const std::string csv = sample();
    EXPECT_EQ(rejected(""), "x.csv:1: the file is empty.");
    EXPECT_THAT(rejected("a,b\r\n1,2\r\n"), StartsWith("x.csv:1: unknown column 'a'"));
    EXPECT_THAT(rejected("schema,kind,kind\r\n"), StartsWith("x.csv:1: column 'kind' occurs twice"));
    EXPECT_THAT(rejected("operation\r\n"), HasSubstr("has no columns schema and kind"));
    EXPECT_THAT(rejected(replaced(csv, "time_p05_s", "time_p04_s")), HasSubstr("unknown column 'time_p04_s'"));
}

TEST_F(CsvTest, RefusesTheSameRowTwiceAndADeviceWithoutFacts) {
    const std::string csv = sample();
    const std::size_t third = csv.find("\r\n", csv.find("\r\n") + 2) + 2;  // start of line 3
    const std::size_t fourth = csv.find("\r\n", third) + 2;
    const std::string line = csv.substr(fourth, csv.find("\r\n", fourth) + 2 - fourth);
    EXPECT_THAT(rejected(csv + line), HasSubstr("x.csv:8: this operation occurs twice in the file"));
    const std::size_t second = csv.find("\r\n") + 2;
    EXPECT_THAT(rejected(csv.substr(0, second) + csv.substr(third)),
                HasSubstr("x.csv:2: device 'cpu-test' is neither in the database nor in an earlier row"));
}

// A spreadsheet takes what begins with these for a formula, and a name out of a file may be one.
TEST(HarmlessField, IsNoFormulaAndComesBack) {
    for (const std::string text : {"=HYPERLINK(\"http://x\")", "+1+2", "-2+3", "@SUM(A1)", "\t=1"}) {
        EXPECT_EQ(harmless_field(text), "'" + text);
        EXPECT_EQ(field_before(harmless_field(text)), text);
        EXPECT_EQ(field_before(harmless_field("'" + text)), "'" + text);
    }
    for (const std::string text : {"-1.5e-3", "+7", "resnet50", "", "'quoted'", "a=b"}) {
        EXPECT_EQ(harmless_field(text), text);
        EXPECT_EQ(field_before(text), text);
    }
}

TEST(CsvReader, ReadsQuotesAndBothLineEnds) {
    std::istringstream input("a,\"b,\"\"c\"\"\"\n\"two\nlines\",\r\n\r\nlast");
    CsvReader reader(input, "x");
    EXPECT_THAT(*reader.next(), ElementsAre("a", "b,\"c\""));
    EXPECT_THAT(*reader.next(), ElementsAre("two\nlines", ""));
    EXPECT_EQ(reader.line(), 2);
    EXPECT_THAT(*reader.next(), ElementsAre("last"));
    EXPECT_EQ(reader.line(), 5);  // the record before took two lines, then an empty one
    EXPECT_FALSE(reader.next().has_value());
}

TEST(CsvReader, RefusesBrokenQuoting) {
    for (const char* text : {"\"open", "a\"b", "\"a\"b,c"}) {
        std::istringstream input(text);
        CsvReader reader(input, "x");
        EXPECT_THROW(reader.next(), FormatError) << text;
    }
}

TEST(CsvReader, RefusesARecordOfTooManyFields) {
    std::istringstream input(std::string(2000, ','));
    CsvReader reader(input, "x");
    EXPECT_THROW(reader.next(), FormatError);
}

}  // namespace
}  // namespace joulecast
