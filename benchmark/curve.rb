# frozen_string_literal: true

module Bench
  # How the contenders fare when one thing grows: the list, or the distance.
  #
  # workloads: by what they are marked with on the axis; nil: it is the distances of the one workload that are marked.
  Curve = Struct.new(:name, :title, :axis, :workloads, :rtts, keyword_init: true) do
    const_set(:CONTENDERS, %w[naive includes dataloader graphql-batch goldiloader pipeloader pipeloader-exact next-dataloader
                              next-pipeloader floor-rows floor-json].freeze)

    def self.all
      sizes = [25, 100, 400, 1600, 5000, 10_000].to_h { |limit| [limit, "narrow-#{limit}"] }
      rtts = [0.0, 1.0, 2.0, 5.0, 10.0, 25.0]
      [new(name: "size", title: "The narrow tree, growing", axis: "posts", workloads: sizes, rtts: [0.0]),
       new(name: "distance-narrow", title: "The narrow tree of 25 posts, farther and farther away", axis: "RTT in ms",
           workloads: { nil => "narrow-25" }, rtts: rtts),
       new(name: "distance-wide", title: "The wide tree, farther and farther away", axis: "RTT in ms",
           workloads: { nil => "wide" }, rtts: rtts)]
    end

    # {contender => [[25, median ms], …]} from contests, one for each workload.
    def lines(contests)
      workloads.keys.zip(contests).each_with_object({}) do |(mark, contest), lines|
        contest[:entries].each do |entry, figures|
          figures[:samples].each do |rtt, samples|
            (lines[entry] ||= []) << [mark || rtt, Summary.new(samples).median] unless samples.empty?
          end
        end
      end
    end
  end
end
